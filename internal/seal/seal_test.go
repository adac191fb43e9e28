package seal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenGivesBackWhatWasSealedOnlyInItsContext(t *testing.T) {
	k, err := NewKey()
	require.NoError(t, err)
	r := NewRing(k)
	sealed, err := r.Seal([]byte("token"), "cluster:a")
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "token")

	plain, err := r.Open(sealed, "cluster:a")
	require.NoError(t, err)
	require.Equal(t, "token", string(plain))

	_, err = r.Open(sealed, "cluster:b")
	require.Error(t, err, "moved to another cluster")

	for i := range sealed {
		bent := append([]byte(nil), sealed...)
		bent[i] ^= 1
		_, err = r.Open(bent, "cluster:a")
		require.Error(t, err, "byte %d changed", i)
	}
	for i := range sealed {
		_, err = r.Open(sealed[:i], "cluster:a")
		require.Error(t, err, "cut after %d bytes", i)
	}
}

func TestRotationKeepsOldSecretsReadable(t *testing.T) {
	old, err := NewKey()
	require.NoError(t, err)
	sealed, err := NewRing(old).Seal([]byte("x"), "c")
	require.NoError(t, err)

	newer, err := NewKey()
	require.NoError(t, err)
	r, err := ParseRing("# newest first\n" + newer.Encode() + "\r\n\n" + old.Encode() + "\n")
	require.NoError(t, err)
	plain, err := r.Open(sealed, "c")
	require.NoError(t, err)
	require.Equal(t, "x", string(plain))
	require.False(t, r.Current(sealed))

	again, err := r.Seal(plain, "c")
	require.NoError(t, err)
	require.True(t, r.Current(again))
	_, err = NewRing(newer).Open(sealed, "c")
	require.ErrorContains(t, err, old.ID())
}

func TestKeyFileErrorsSayWhatToDo(t *testing.T) {
	for _, file := range []string{"", "# only a comment", "short", "aGVsbG8="} {
		_, err := ParseRing(file)
		require.ErrorContains(t, err, "/dev/urandom", file)
	}
}
