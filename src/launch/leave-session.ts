/** The option that marks a pane that is about to end. */
export const ENDING_TAG = "@teams_ending";
/** The option of a team's session, `<session>/<root>/<team>`; it names the session, so that a copy does not mark another one. */
export const SESSION_TAG = "@teams_session";

/** The first word of the line for each client that must leave its session. */
export const LEAVES = "teams-leaves";

/**
 * A format for a client that must leave its session: its name has no space, the name of its last session may have some. The session is
 * named, so that two processes that switch the same client do not switch it back.
 */
export const LEAVING_CLIENT = `#{?client_last_session,${LEAVES} #{client_name} #{client_last_session},}`;

/**
 * A format for `list-clients` that prints the clients to switch: their session is the team's, all its panes are about to end, and
 * they have another session. tmux would detach them. Marking and listing are one call: if several panes end at once, the last call
 * finds all of them marked.
 */
export const LEAVING_CLIENTS =
  `#{?#{&&:#{m:#{session_id}/*,#{${SESSION_TAG}}},#{==:#{W:#{P:#{?${ENDING_TAG},,x}}},}},` +
  `${LEAVING_CLIENT},}`;

/**
 * Shell functions that the launch script runs at its end. `leave_session` does nothing unless the place record says that the session
 * is the team's, `keep_zoom` unless it says that the pane is next to the user's, so that other ends fork nothing.
 */
export const LEAVE_SESSION = String.raw`
# True if the place record contains one of two texts.
is_placed() {
  [ -n "$TMUX_PANE" ] && [ -r "$run/place.json" ] || return 1
  while IFS= read -r place || [ -n "$place" ]; do
    case $place in
      *"$1"* | *"$2"*) return 0 ;;
    esac
  done <"$run/place.json"
  return 1
}

# If this is the last pane of the team's session, switches its viewers back to their last session: tmux would detach them.
leave_session() {
  is_placed '"inTeamSession": true' '"inTeamSession":true' || return 0
  tmux -u if-shell -F -t "$TMUX_PANE" "#{==:#{pane_pid},$PPID}" \
    "set-option -p -t $TMUX_PANE ${ENDING_TAG} 1 ; list-clients -t $TMUX_PANE -F '${LEAVING_CLIENTS}'" |
    while IFS=' ' read -r mark client session; do
      [ "$mark" != ${LEAVES} ] || tmux -u switch-client -c "$client" -t "=$session:"
    done
}

# In a user's window, the end of a pane undoes the zoom of another pane, so this closes the pane and zooms the other again in one call.
# The windows of a team have a hook for that.
keep_zoom() {
  is_placed '"beside": {' '"beside":{' || return 0
  zoomed="#{&&:#{==:#{pane_pid},$PPID},#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}}}"
  window=$(tmux -u if-shell -F -t "$TMUX_PANE" "$zoomed" "display-message -p -t $TMUX_PANE '#{window_id}'")
  [ -z "$window" ] ||
    tmux -u if-shell -F -t "$TMUX_PANE" "$zoomed" "kill-pane -t $TMUX_PANE ; resize-pane -Z -t $window"
}
`;
