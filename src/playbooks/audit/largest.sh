# Finds the largest tracked files, by their size in the working tree.
#
#   sh largest.sh          the part of the report
#   sh largest.sh --name   only the name of the largest, in plain ASCII as git quotes it, for touched.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

only_name=false
[ "${1-}" = --name ] && only_name=true

# One ls gives the sizes of thousands of names. It prints one line for each existing file, even if a name contains a
# newline (-q; busybox does so without it). It sorts by the bytes of the names, as git does, so line n belongs to name n.
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
  # Prints "size name" of regular files; fails if a line does not belong to its name.
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

# A file may be removed between the two listings.
measure || measure || measure || stop "the working tree changed while it was read."

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
