#!/bin/sh
# Reads the temporary directory of each test file from stdin, one per line. When the test process is gone, kills the processes that its
# last file has left, and removes the directory: a killed test run cannot. Usually nothing is left. The directory is no argument of the
# programs below: they find processes by their arguments, and would kill themselves.
directory=
while read -r line; do directory=$line; done
[ -d "$directory" ] || exit 0

if [ -r /proc/self/environ ]; then
  pids=$(printf %s "$directory" | grep -lsF -f - /proc/[0-9]*/environ /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -u)
else
  pids=$(ps -axwwE -o pid=,command= | grep -F -- "$directory" | grep -vF 'grep -F' | awk '{ print $1 }')
fi
for pid in $pids; do
  [ "$pid" = $$ ] || kill -9 "$pid"
done
if [ -r /proc/self/mounts ]; then
  cut -d' ' -f2 /proc/self/mounts | while read -r mount; do
    case $mount in "$directory"/*) umount -l "$mount" ;; esac
  done
fi
rm -rf "$directory"
