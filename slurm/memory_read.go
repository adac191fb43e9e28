package slurm

import (
	"math/big"
	"strings"

	"quartermaster/internal/fault"
)

// readMemory returns MiB: Slurm's memory is in MiB where no unit says otherwise, and
// its units are powers of 1024. 1.5T is 1572864; parts of a MiB are rounded up.
func readMemory(text string) (int64, error) {
	wrong := fault.Newf(fault.Invalid, "%q is no amount of memory: write MiB, or a number with K, M, G, T or P.", text)
	digits, factor := text, big.NewRat(1, 1)
	if text != "" {
		shift := map[byte]int{'K': -10, 'M': 0, 'G': 10, 'T': 20, 'P': 30}
		last := strings.ToUpper(text)[len(text)-1]
		if by, ok := shift[last]; ok {
			digits = text[:len(text)-1]
			if by < 0 {
				factor = big.NewRat(1, 1<<-by)
			} else {
				factor = big.NewRat(1<<by, 1)
			}
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 || digits == "." || len(digits) > 30 {
		return 0, wrong
	}
	amount, ok := new(big.Rat).SetString(strings.TrimSuffix("0"+digits, "."))
	if !ok {
		return 0, wrong
	}
	amount.Mul(amount, factor)
	n, rest := new(big.Int).DivMod(amount.Num(), amount.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() || n.Int64() > 1<<43 {
		return 0, wrong
	}
	return n.Int64(), nil
}
