package ledger

// Scan and ParseAgain are the two ways of Parse, for the test that compares them.
var (
	Scan       = scan
	ParseAgain = parseAgain
)
