# Counts the tracked files by language, and the lines of the text files in the working tree.
#
#   sh inventory.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

repo_git ls-files --stage >"$scratch/files" || stop "git cannot list the tracked files."
repo_git ls-files --deleted >"$scratch/missing" || stop "git cannot compare the working tree."
grep_tracked --count -e '' >"$scratch/lines" || stop "git cannot read the tracked files."

# Each row of the table is "lines, files, language".
awk -v table="$scratch/table" '
input == "languages" {
  title = substr($0, 1, index($0, ": ") - 1)
  count = split(substr($0, index($0, ": ") + 2), endings, " ")
  for (i = 1; i <= count; i++) language_of[endings[i]] = title
}
input == "files" {
  name = substr($0, index($0, "\t") + 1)
  # git lists a file in conflict once for each side.
  if (name in seen) next
  seen[name]
  tracked++
  if ($1 == "120000") links++
  else if ($1 == "160000") modules++
  else files[language(name)]++
}
input == "missing" && !($0 in missing) { missing[$0]; gone++ }
input == "lines" && match($0, /:[0-9]+$/) {
  count = substr($0, RSTART + 1)
  lines[language(substr($0, 1, RSTART - 1))] += count
  total += count
}
END {
  printf "    Tracked files: %d\n", tracked
  printf "    Lines of text: %.0f\n", total
  printf "    Symbolic links: %d, submodules: %d, missing from the working tree: %d\n", links, modules, gone
  for (title in files) printf "%.0f\t%d\t%s\n", lines[title], files[title], title > table
}
# Takes a name as git prints it; the closing quote does not belong to the ending.
function language(name,   base, ending) {
  sub(/"$/, "", name)
  base = name
  sub(/^.*\//, "", base)
  if (base ~ /^(GNUm|M|m)akefile$/) return "Make"
  if (base ~ /^(Docker|Container)file/) return "Dockerfile"
  if (base !~ /[^."].*\.[^.]/) return "(no ending)"
  ending = tolower(base)
  sub(/^.*\./, "", ending)
  if (ending in language_of) return language_of[ending]
  return ending ~ /^[a-z0-9_+-]+$/ && length(ending) <= 12 ? "." ending : "(another ending)"
}
' input=languages "$here/languages.txt" input=files "$scratch/files" input=missing "$scratch/missing" \
  input=lines "$scratch/lines"

[ -s "$scratch/table" ] || exit 0
sort -t '	' -k 1,1nr -k 2,2nr -k 3,3 "$scratch/table" | awk -F '\t' -v max="$max_rows" '
NR == 1 { printf "\n    %10s %8s  %s\n", "lines", "files", "language" }
NR <= max { printf "    %10s %8s  %s\n", $1, $2, $3 }
NR > max { lines += $1; files += $2; others++ }
END { if (others) printf "    %10.0f %8d  (%d others)\n", lines, files, others }
'
