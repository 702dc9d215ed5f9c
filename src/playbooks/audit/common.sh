# Sourced by the scripts of the audit. Each script measures one thing in the current git repository.
#
# A script prints a part of the report. Its lines are indented by four spaces, so that Markdown renders nothing in them
# as markup, in particular no file name. The scripts need only git, sh, awk, sort, xargs and ls of any vendor, and start
# no process per file.

set -u
LC_ALL=C
export LC_ALL
unset QUOTING_STYLE

# Newest commits to read: takes some seconds, and is more than most repositories have.
max_commits=50000
# Rows of each table.
max_rows=15
# First line of a report. No file without it is ever replaced.
marker='<!-- written by teams: audit -->'

# Prints why there is no figure, in a form that the playbook matches, and exits.
stop() {
  printf 'audit: stopped: %s\n' "$1"
  exit 1
}

# The scripts' own directory, absolute. The x keeps a name that ends in a newline whole.
here=$(cd "$(dirname "$0")" && pwd && printf x) || stop "the directory of the audit's scripts is gone."
here=${here%?x}

# git without settings of the user or the repository that change its output or run a program. Names come one per line:
# UTF-8 unchanged, and quoted like a C string if they contain special characters.
repo_git() {
  git --no-pager --no-optional-locks -c core.quotePath=false -c core.fsmonitor=false -c submodule.recurse=false \
    -c grep.patternType=default -c grep.lineNumber=false -c grep.column=false -c grep.fallbackToNoIndex=false \
    -c color.ui=never -c log.showSignature=false "$@"
}

# Changes to the top directory of the repository.
enter_repository() {
  command -v git >/dev/null 2>&1 || stop "git is not installed."
  top=$(git rev-parse --show-toplevel 2>&1 && printf x) || stop "git finds no working tree here: $top"
  top=${top%?x}
  cd "$top" || stop "the top of the repository cannot be entered."
}

# Creates a directory for intermediate results, removed when the script exits.
make_scratch() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/teams-audit.XXXXXX") || stop "no temporary directory can be created."
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
}

# Searches tracked text files in the working tree with git grep. Finding nothing is not a failure.
grep_tracked() {
  repo_git grep --no-color --full-name -I "$@"
  [ $? -le 1 ]
}

has_commits() {
  git rev-parse --quiet --verify 'HEAD^{commit}' >/dev/null 2>&1
}

# Prints the name of each file once for each commit that touched it. Merges are not counted. Fails if git cannot read a commit.
# Uses the directory of make_scratch.
# $1: "true" for names in plain ASCII with everything else escaped, else "false".
touched_files() {
  has_commits || return 0
  repo_git rev-list --no-merges --max-count="$max_commits" HEAD >"$scratch/revisions" || return 1
  repo_git -c core.quotePath="$1" diff-tree --stdin -r --root --no-commit-id --name-only --no-renames \
    <"$scratch/revisions"
}

# For awk programs: shown(name) makes a name from git readable and harmless. It removes quotes, escapes control
# characters, characters that change the text direction and invalid UTF-8, and cuts the name after 200 bytes.
names_awk='
BEGIN {
  for (i = 1; i < 256; i++) ord[sprintf("%c", i)] = i
  # Some awks read UTF-8 in any locale: they never cut a character, and its value is not available.
  bytewise = length("\303\251") == 2
}
function shown(name,   out, i, size) {
  is_quoted = name ~ /^"/
  if (is_quoted) name = substr(name, 2, length(name) - 2)
  for (i = 1; i <= length(name); i += size) {
    if (length(out) >= 200) return out "..."
    if (is_quoted && substr(name, i, 1) == "\\") { out = out unescaped(name, i); size = taken }
    else if (bytewise && ord[substr(name, i, 1)] > 127) { out = out multibyte(name, i); size = taken }
    else { out = out substr(name, i, 1); size = 1 }
  }
  return out
}
# Returns a quote or a backslash as itself, and any other escape unchanged. Sets `taken` to the length of the escape.
function unescaped(name, i,   char) {
  char = substr(name, i + 1, 1)
  taken = char ~ /[0-7]/ ? 4 : 2
  if (taken == 2) return char ~ /["\\]/ ? char : "\\" char
  return sprintf("\\x%02x", char * 64 + substr(name, i + 2, 1) * 8 + substr(name, i + 3, 1))
}
function multibyte(name, i,   lead, code, k, byte) {
  lead = ord[substr(name, i, 1)]
  taken = lead >= 245 ? 0 : lead >= 240 ? 4 : lead >= 224 ? 3 : lead >= 194 ? 2 : 0
  code = taken == 4 ? lead - 240 : taken == 3 ? lead - 224 : lead - 192
  for (k = 1; k < taken; k++) {
    byte = ord[substr(name, i + k, 1)] + 0
    if (byte < 128 || byte > 191) taken = 0
    code = code * 64 + byte - 128
  }
  if (taken == 0 || !is_scalar(code, taken)) { taken = 1; return sprintf("\\x%02x", lead) }
  return is_hidden(code) ? sprintf("\\u{%x}", code) : substr(name, i, taken)
}
function is_scalar(code, size) {
  if (size == 3) return code >= 2048 && (code < 55296 || code > 57343)
  return size == 2 || (code >= 65536 && code <= 1114111)
}
# Controls, soft hyphen, zero width, line and paragraph separators, direction, byte order mark, tags.
function is_hidden(code) {
  return code < 160 || code == 173 || code == 1564 || (code >= 8203 && code <= 8207) || \
    (code >= 8232 && code <= 8238) || (code >= 8288 && code <= 8303) || code == 65279 || code >= 917504
}
'
