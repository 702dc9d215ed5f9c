# Prints the repository and the commit of the report, and the time.
#
#   sh about.sh

. "$(dirname "$0")/common.sh"
enter_repository

# A directory's name is as untrusted as a file's.
printf '%s' "${top##*/}" | tr '\001-\037\177' '?' | awk "$names_awk"'
{ name = name shown($0) }
END { printf "    Repository: %s\n", name }
'
if has_commits; then
  repo_git log -1 --format='    Commit: %h of %cd' --date=short HEAD --
  if [ -n "$(repo_git status --porcelain --untracked-files=no --ignore-submodules=all | head -n 1)" ]; then
    printf '    Tracked files were changed since that commit; the working tree is counted.\n'
  fi
fi
printf '    Written: %s UTC\n' "$(date -u '+%Y-%m-%d %H:%M')"
