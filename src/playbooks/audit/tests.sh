# Finds test files by their names: a directory such as test/ or __tests__/, or a name such as x.test.ts or test_x.py.
#
#   sh tests.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

repo_git ls-files >"$scratch/tracked" || stop "git cannot list the tracked files."

# Rows are "files, directory"; a directory is quoted as git quotes it.
awk -v table="$scratch/table" '
$0 in seen { next }
{
  seen[$0]
  tracked++
  name = $0
  sub(/^"/, "", name)
  sub(/"$/, "", name)
}
is_test(name) {
  tests++
  if (!sub(/\/[^\/]*$/, "/", name)) name = "./"
  files[$0 ~ /^"/ ? "\"" name "\"" : name]++
}
function is_test(name,   base) {
  base = name
  sub(/^.*\//, "", base)
  return tolower(name) ~ /(^|\/)(tests?|specs?|__tests__|testing|e2e)\// || \
    tolower(base) ~ /[._-](test|tests|spec|specs)\.[a-z0-9]+$/ || tolower(base) ~ /^(test|spec)[_-]/ || \
    base ~ /[A-Za-z0-9](Test|Tests|Spec)\.[A-Za-z]+$/
}
END {
  printf "    Test files: %d of %d tracked files\n", tests, tracked
  for (name in files) printf "%d\t%s\n", files[name], name > table
}
' "$scratch/tracked"

[ -s "$scratch/table" ] || exit 0
sort -t '	' -k 1,1nr -k 2 "$scratch/table" | awk -F '\t' -v max="$max_rows" "$names_awk"'
NR == 1 { printf "\n    %8s  %s\n", "files", "directory" }
NR <= max { printf "    %8d  %s\n", $1, shown(substr($0, length($1) + 2)) }
'
