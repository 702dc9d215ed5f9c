# Reads the history: its size, and the files that most commits touched. Merges are not counted.
#
#   sh history.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

if ! has_commits; then
  printf '    Commits: 0\n    Most touched file: none\n'
  exit
fi

repo_git log --format='%cd %aE' --date=short HEAD -- >"$scratch/commits" || stop "git cannot read the history."
touched_files false >"$scratch/touched" || stop "git cannot read all commits."
repo_git ls-files >"$scratch/tracked" || stop "git cannot list the tracked files."

awk '
{
  if (first == "" || $1 < first) first = $1
  if ($1 > last) last = $1
  if (!($2 in authors)) { authors[$2]; count++ }
}
END { printf "    Commits: %d by %d %s, %s to %s\n", NR, count, (count == 1 ? "author" : "authors"), first, last }
' "$scratch/commits"
if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
  printf '    The clone is shallow: older commits are missing.\n'
fi

# Rows are "commits, 1 if no longer tracked, name".
awk '
input == "tracked" { tracked[$0]; next }
$0 != "" { commits[$0]++ }
END { for (name in commits) printf "%d\t%d\t%s\n", commits[name], (name in tracked ? 0 : 1), name }
' input=tracked "$scratch/tracked" input=touched "$scratch/touched" |
  sort -t '	' -k 1,1nr -k 3 >"$scratch/table"

# The headline names a file that is still tracked; the table has all files.
awk -F '\t' -v max="$max_rows" -v limit="$max_commits" -v all="$(wc -l <"$scratch/commits")" "$names_awk"'
{ name = shown(substr($0, length($1) + length($2) + 3)) }
headline == "" && $2 == 0 { headline = name " (" commits($1) ")" }
NR <= max { rows[++count] = sprintf("    %8d  %s%s", $1, name, ($2 ? " (no longer tracked)" : "")) }
function commits(number) { return number (number == 1 ? " commit" : " commits") }
END {
  printf "    Most touched file: %s\n", (headline == "" ? "none" : headline)
  if (all + 0 > limit) printf "    Only the newest %d commits were read for this.\n", limit
  if (count) printf "\n    %8s  %s\n", "commits", "file"
  for (i = 1; i <= count; i++) print rows[i]
}
' "$scratch/table"
