# Sourced by the scripts that need tools: installs those that are missing. Bash 3.2, Linux and macOS.

# Prints one sentence with the missing tool and the remedy, and exits.
missing() {
  printf '%s\n' "$*" >&2
  exit 6
}

# Prints the checkout of a script in scripts/, even if it was called through links.
checkout_of() {
  local script=$1 link
  while [ -L "$script" ]; do
    link=$(readlink "$script")
    case $link in
    /*) script=$link ;;
    *) script=$(dirname "$script")/$link ;;
    esac
  done
  (cd "$(dirname "$script")/.." && pwd -P)
}

require_node() {
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 ||
    missing "Node.js 20.19 or newer with npm is not on the PATH; install it from https://nodejs.org."
  node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1);
  ' || missing "Node.js 20.19 or newer is needed, but this is $(node --version); install a newer one from https://nodejs.org."
}

# Runs npm ci if node_modules does not match the lock file.
require_packages() {
  local stamp=node_modules/.installed-lock sum
  sum=$(cksum <package-lock.json)
  if [ -f node_modules/.package-lock.json ]; then
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return
    # Packages that a person installed are newer than the lock file.
    [ node_modules/.package-lock.json -nt package-lock.json ] && return
  fi
  [ -w . ] || missing "The packages are not installed, and this user may not write to $PWD; run npm ci there once as its owner."
  # npm ci follows a link and empties the directory there, which may belong to another checkout.
  [ ! -L node_modules ] ||
    missing "node_modules is a link, and its target does not match package-lock.json; run npm ci there, or remove the link."
  printf 'Installing packages (npm ci) ...\n' >&2
  # The build needs the development packages, even if the environment says production.
  npm ci --include=dev --no-audit --no-fund --no-update-notifier --loglevel=error >&2 ||
    missing "npm ci failed (see above); nothing else was done."
  printf '%s\n' "$sum" >"$stamp"
}

# Installs a program with the system's package manager, if there is one and this user may use it.
require_program() {
  local program=$1
  command -v "$program" >/dev/null 2>&1 && return
  printf 'Installing %s ...\n' "$program" >&2
  install_package "$program" >&2 || true
  hash -r
  command -v "$program" >/dev/null 2>&1 ||
    missing "$program is needed and could not be installed automatically; install it with your package manager (apt install $program, dnf install $program, brew install $program) and try again."
}

# Installs a program as require_program does, but continues without it. The package may have another name.
want_program() {
  local program=$1 package=${2:-$1}
  command -v "$program" >/dev/null 2>&1 && return
  printf 'Installing %s ...\n' "$package" >&2
  install_package "$package" >/dev/null 2>&1 || true
  hash -r
  command -v "$program" >/dev/null 2>&1 ||
    printf '%s could not be installed; the tests that need it are skipped.\n' "$package" >&2
}

install_package() {
  if command -v brew >/dev/null 2>&1 && [ "$(id -u)" != 0 ]; then
    HOMEBREW_NO_AUTO_UPDATE=1 brew install "$1"
  elif command -v apt-get >/dev/null 2>&1; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1" ||
      { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1"; }
  elif command -v dnf >/dev/null 2>&1; then
    as_root dnf install -y "$1"
  elif command -v apk >/dev/null 2>&1; then
    as_root apk add "$1"
  elif command -v pacman >/dev/null 2>&1; then
    as_root pacman -S --noconfirm --needed "$1"
  else
    return 1
  fi </dev/null
}

# Runs a command as root if that is possible without a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# tmux 3.2 is the oldest version with all the features that teams uses.
require_tmux() {
  require_program tmux
  local version
  version=$(tmux -V 2>/dev/null | sed 's/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
  case $version in
  [0-2]\ * | 3\ 0 | 3\ 1) missing "tmux 3.2 or newer is needed, but this is $(tmux -V)." ;;
  esac
}

# Installs what the tests need, and lets them write their temporary files to memory.
prepare_tests() {
  require_node
  require_packages
  require_program git
  require_tmux
  # Without them, the tests of the sandbox, of these shells and of Grep are skipped, which CI does not accept.
  [ "$(uname)" = Darwin ] || want_program bwrap bubblewrap
  want_program zsh
  want_program fish
  want_program rg ripgrep

  # In memory, the tests do not wait for the disk: this saves a sixth of their time.
  if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] &&
    [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 4000000 ]; then
    export TMPDIR=/dev/shm
  fi
}
