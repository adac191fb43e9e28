package db

import (
	"context"
	"net/url"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// ClusterAddress returns how a connected cluster is reached, with its token still
// sealed (nil = none). The token of the Connection is empty.
func (r reader) ClusterAddress(ctx context.Context, id string) (c portal.Connection, sealed []byte, err error) {
	var row struct {
		Kind   string `db:"kind"`
		Server string `db:"server"`
		CA     string `db:"ca"`
		Token  []byte `db:"token_sealed"`
	}
	err = r.get(ctx, &row, "This cluster is not connected.", `SELECT kind, server, ca, token_sealed FROM cluster WHERE id = $1`, id)
	return portal.Connection{ClusterID: id, Kind: fleet.Kind(row.Kind), Server: row.Server, CA: row.CA}, row.Token, err
}

// AsUser is address with another user and password: the same database, other rights.
func AsUser(address, user, password string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(user, password)
	return u.String(), nil
}
