DO $$
DECLARE x record;
BEGIN
	FOR x IN SELECT definition FROM load_index LOOP
		EXECUTE x.definition;
	END LOOP;
END $$;
DROP TABLE load_index;
