# Sourced by scripts/test and scripts/demo: installs what they need and the machine has not. Bash 3.2, Linux and macOS.

# One sentence that says what is missing and what to do about it.
missing() {
  printf '%s\n' "$*" >&2
  exit 6
}

# The checkout that a script of scripts/ belongs to, however it was called.
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
    missing "Node.js 20.19 or newer with npm is needed and is not on the PATH: https://nodejs.org has it."
  node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1);
  ' || missing "Node.js 20.19 or newer is needed; this is $(node --version): https://nodejs.org has a newer one."
}

# npm ci, where node_modules is not what the lock file says.
require_packages() {
  local stamp=node_modules/.installed-lock sum
  sum=$(cksum <package-lock.json)
  if [ -f node_modules/.package-lock.json ]; then
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return
    # An install by hand, later than the last change of the lock file.
    [ node_modules/.package-lock.json -nt package-lock.json ] && return
  fi
  [ -w . ] || missing "The packages have to be installed into $PWD, which this user may not write to; run npm ci there once as its owner."
  printf 'Installing packages (npm ci) ...\n' >&2
  # The build needs the packages for development, whatever the environment says of production.
  npm ci --include=dev --no-audit --no-fund --no-update-notifier --loglevel=error >&2 ||
    missing "npm ci did not succeed (above is why); nothing else was done."
  printf '%s\n' "$sum" >"$stamp"
}

# A program, by the system's package manager where there is one and the right to use it.
require_program() {
  local program=$1
  command -v "$program" >/dev/null 2>&1 && return
  printf 'Installing %s ...\n' "$program" >&2
  install_package "$program" >&2 || true
  hash -r
  command -v "$program" >/dev/null 2>&1 ||
    missing "$program is needed and could not be installed from here; install it with your package manager (apt install $program, dnf install $program, brew install $program) and start again."
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

# Never asks for a password: what it may do without one, it does.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# tmux 3.2 is the oldest with all that teams uses.
require_tmux() {
  require_program tmux
  local version
  version=$(tmux -V 2>/dev/null | sed 's/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
  case $version in
  [0-2]\ * | 3\ 0 | 3\ 1) missing "tmux 3.2 or newer is needed; this is $(tmux -V)." ;;
  esac
}
