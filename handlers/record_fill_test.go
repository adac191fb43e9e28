package handlers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/ledger"
)

func TestEachTypeOfEntryIsToldInWords(t *testing.T) {
	for _, x := range ledger.Types {
		words, ok := done[x]
		require.True(t, ok, "%s has no words", x)
		require.NotEmpty(t, words.did)
		require.NotEmpty(t, words.tried)
	}
}
