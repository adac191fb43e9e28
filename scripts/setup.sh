#!/bin/sh
# Makes sure that this machine has what a target needs: `setup.sh run` or
# `setup.sh test`. On Debian and Ubuntu it installs what is missing (as root, or
# with sudo); elsewhere, or without the right to, it names what to install and
# fails. Safe to run again; when all is there it only looks and takes no time.
set -eu
cd "$(dirname "$0")/.."

missing=
need() { missing="$missing $1"; }
have() { command -v "$1" >/dev/null 2>&1; }

postgres_there() {
	[ -n "${PG_BIN:-}" ] && return 0
	for initdb in /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb /opt/homebrew/opt/postgresql@*/bin/initdb \
		/usr/local/opt/postgresql@*/bin/initdb /Applications/Postgres.app/Contents/Versions/[0-9]*/bin/initdb; do
		[ -x "$initdb" ] && return 0
	done
	have initdb
}

# The real Slurm of the tests: its daemons, its client commands, its token and
# database plugins, munge, and the database server without a service of its own.
slurm="slurmctld slurmd slurmdbd slurmrestd slurm-client slurm-wlm-jwt-plugin slurm-wlm-mysql-plugin munge mariadb-server-core mariadb-client-core"
slurm_there() {
	for program in slurmctld slurmd slurmdbd slurmrestd sacctmgr munged mariadbd mariadb-install-db; do
		have "$program" || [ -x "/usr/sbin/$program" ] || return 1
	done
	for plugin in auth_jwt accounting_storage_mysql; do
		ls /usr/lib*/*/slurm*/$plugin.so >/dev/null 2>&1 || ls /usr/lib*/slurm*/$plugin.so >/dev/null 2>&1 || return 1
	done
}

target=${1:-run}
case $target in
run) [ -n "${DATABASE_URL:-}" ] || postgres_there || need postgresql ;;
test)
	postgres_there || need postgresql
	have gcc || need gcc
	[ "$(uname)" != Linux ] || [ -e /usr/include/stdlib.h ] || need libc6-dev
	have chromium || need chromium
	slurm_there || need "$slurm"
	;;
*)
	echo "usage: $0 run|test" >&2
	exit 2
	;;
esac
have node || need nodejs
have npm || need npm

if ! have go; then
	echo "Go is missing: install the version that go.mod names from https://go.dev/dl/" >&2
	exit 1
fi

give_up() {
	echo "$1. Install these packages, then run make again:$missing" >&2
	[ "$(uname)" != Darwin ] || echo "With Homebrew: brew install postgresql@17 node; brew install --cask chromium" >&2
	exit 1
}

# install_missing uses apt-get. A fresh postgresql package would also start a
# server of the system's own, which nobody here needs: it is told not to.
install_missing() {
	have apt-get || give_up "This system has no apt-get"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		have sudo || give_up "Neither root nor sudo"
		if [ -t 0 ]; then sudo=sudo; else sudo="sudo -n"; fi
		$sudo true || give_up "sudo is not allowed"
	fi
	echo "Installing:$missing"
	apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y"
	$apt update || give_up "apt-get update does not work"
	case $missing in
	*postgresql*)
		if ! have pg_createcluster; then
			$apt install --no-install-recommends postgresql-common || give_up "apt-get install does not work"
			echo "create_main_cluster = false" | $sudo tee -a /etc/postgresql-common/createcluster.conf >/dev/null
		fi
		;;
	esac
	$apt install --no-install-recommends $missing || give_up "apt-get install does not work"
}

if [ -n "$missing" ]; then install_missing; fi

# The front end's build wants Node 20 or newer; Debian 12 has 18. The Makefile
# puts this one first in PATH.
version=$(node --version)
major=${version#v}
if [ "${major%%.*}" -lt 20 ]; then
	if [ ! -x tools/node/bin/node ] || [ tools/node/package-lock.json -nt tools/node/bin/stamp ]; then
		echo "Node $version is older than 20: fetching a newer one for this directory alone"
		(cd tools/node && npm ci --silent)
		mkdir -p tools/node/bin
		ln -sf "$(ls "$PWD"/tools/node/node_modules/node-linux-*/bin/node | head -n 1)" tools/node/bin/node
		tools/node/bin/node --version >/dev/null || {
			echo "The fetched Node does not run here: install Node 20 or newer" >&2
			exit 1
		}
		touch tools/node/bin/stamp
	fi
fi
