package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheApproveButtonNamesWhatItGives(t *testing.T) {
	line := func(value string) DecideLine { return DecideLine{Unit: "GPUs", Grant: Field{Value: value}} }
	for want, lines := range map[string][]DecideLine{
		"Approve 12 GPUs":            {line("12")},
		"Approve 16 GPUs in 2 pools": {line("12"), line("4")},
		"Approve 0 GPUs":             {line("0")},
		"Approve 1 GPU":              {line("1")},
		"Approve request":            {line("twelve")},
	} {
		require.Equal(t, want, RequestDecide{Lines: lines}.approveWord())
	}
}

func TestTheReasonSaysWhenItIsNeeded(t *testing.T) {
	must := RequestDecide{MustReason: "a check warns"}.reasonField()
	require.True(t, must.Required)
	require.Contains(t, must.Hint, "a check warns")
	free := RequestDecide{}.reasonField()
	require.False(t, free.Required)
	require.NotContains(t, html(t, FieldOf(free)), "optional", "needed in some cases, so not called optional")
}

func TestAWrongFieldSaysWhatToDoToEverybody(t *testing.T) {
	page := html(t, FieldOf(Field{Name: "line.0.asked", Label: "Asked limit", Error: "A whole number from 0.", Hint: "The whole figure."}))
	require.Contains(t, page, `aria-invalid="true"`)
	require.Contains(t, page, `aria-describedby="f-line-0-asked-error f-line-0-asked-hint"`)
	require.Contains(t, page, `name="line.0.asked"`)
}
