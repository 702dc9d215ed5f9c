import { operand, shellQuote } from "../text/shell-quote.ts";

/**
 * Returns functions of the launch script that refuse every start but their own: tmux-resurrect
 * and `respawn-pane` run its command line again, which would start a second agent without a record. They use `$agent`,
 * `$run` and `$instance`. POSIX sh that forks nothing, since each start runs them.
 */
export function startCheck(agentId: string): string {
  const team = agentId.slice(agentId.indexOf("@") + 1);
  return `resume=${shellQuote(operand(team))}${CHECK}`;
}

const CHECK = String.raw`

# True if the environment and the place record (whose pid must be $1) belong to this start. A start has no record until the caller
# knows the pid.
is_own_start() {
  [ -n "$instance" ] && [ "$TEAMS_INSTANCE" = "$instance" ] || return 1
  [ -r "$run/place.json" ] || return 0
  same_start= same_pid=
  while IFS= read -r record || [ -n "$record" ]; do
    case $record in
      *'"instance": "'"$instance"'"'* | *'"instance":"'"$instance"'"'*) same_start=yes ;;
    esac
    case "$record," in
      *'"panePid": '"$1"[!0-9]* | *'"panePid":'"$1"[!0-9]*) same_pid=yes ;;
    esac
  done <"$run/place.json"
  [ "$same_start$same_pid" = yesyes ]
}

refuse_start() {
  printf '%s was not started: only teams runs this command, once for each start. Nothing was changed.\n' "$agent"
  printf 'To restart it with its conversation: teams resume %s\n' "$resume"
  exit 1
} >&2
`;
