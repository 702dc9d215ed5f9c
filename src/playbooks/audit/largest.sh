# Finds the largest tracked files, by their size in the working tree.
#
#   sh largest.sh          the part of the report
#   sh largest.sh --name   only the name of the largest, in plain ASCII as git quotes it, for touched.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

only_name=false
[ "${1-}" = --name ] && only_name=true

# Sizes come from one ls for thousands of names. It answers with one line for each file that is there (-q, which busybox
# does unasked: also where a name holds a newline), in the order of the bytes of their names, as git does; so the n-th
# line is the n-th name.
if ls -dlnq / >/dev/null 2>&1; then list=-dlnq; else list=-dln; fi
measure() {
  repo_git -c core.quotePath="$only_name" ls-files >"$scratch/tracked" &&
    repo_git -c core.quotePath="$only_name" ls-files --deleted >"$scratch/missing" || stop "git cannot list the tracked files."
  awk 'input == "missing" { missing[$0]; next } !($0 in missing)' \
    input=missing "$scratch/missing" input=tracked "$scratch/tracked" >"$scratch/names"
  : >"$scratch/listing"
  if [ -s "$scratch/names" ]; then
    repo_git ls-files -z | xargs -0 ls "$list" -- >"$scratch/listing" 2>/dev/null
  fi
  # "size name" of regular files; fails when a line is not about its name.
  awk '
    input == "names" { names[++count] = $0; next }
    {
      name = names[++line]
      is_plain = name !~ /^"/ && name !~ /[^ -~]/
      if ($1 ~ /^-/ && is_plain && substr($0, length($0) - length(name)) != " " name) { differs = 1; exit }
      if ($1 ~ /^-/) printf "%.0f\t%s\n", $5, name
    }
    END { exit differs || line != count }
  ' input=names "$scratch/names" input=listing "$scratch/listing" >"$scratch/sizes"
}

# Somebody may remove a file between the two looks.
measure || measure || measure || stop "the working tree changes while it is read."

sort -u "$scratch/sizes" | sort -t '	' -k 1,1nr -k 2,2 >"$scratch/table"
if $only_name; then
  sed -n '1s/^[0-9]*	//p' "$scratch/table"
  exit
fi
awk -F '\t' -v max="$max_rows" "$names_awk"'
{ name = substr($0, length($1) + 2) }
NR == 1 { printf "    Largest file: %s (%s bytes)\n\n    %12s  %s\n", shown(name), $1, "bytes", "file" }
NR <= max { printf "    %12s  %s\n", $1, shown(name) }
END { if (NR == 0) print "    Largest file: none" }
' "$scratch/table"
