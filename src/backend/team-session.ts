import { TeamError } from "../errors.ts";
import { belongsToPane } from "../launch/environment.ts";
import type { Env } from "../os/env.ts";
import { literal } from "../tmux/format.ts";
import { type PaneId, paneId } from "../tmux/ids.ts";
import { look } from "../tmux/look.ts";
import type { Command } from "../tmux/quote.ts";
import type { TmuxServer } from "../tmux/server.ts";
import type { Size } from "./layout.ts";
import { DETACHED_SIZE, freeSessionName } from "./pane-plan.ts";
import { ownerTag, sessionCommands, TAG } from "./tags.ts";

export interface TeamSessionRequest {
  readonly team: string;
  readonly teamTitle: string;
  readonly rootTag: string;
  /** What runs in its first pane: the lead. */
  readonly argv: readonly string[];
  readonly env: Env;
  /** The terminal's, when one is about to attach. */
  readonly size?: Size;
}

export interface TeamSession {
  readonly name: string;
  readonly pane: PaneId;
  /** The words that show it in a terminal. */
  readonly attach: readonly string[];
}

/**
 * Opens a detached session of the team with the lead in its first pane.
 * @throws TeamError TMUX_ERROR when tmux refuses
 */
export async function openTeamSession(server: TmuxServer, request: TeamSessionRequest): Promise<TeamSession> {
  const seen = await look(server, [TAG.session]);
  const name = freeSessionName(seen, `teams-${request.team}`);
  const { width, height } = request.size ?? DETACHED_SIZE;
  const variables = Object.keys(request.env).filter((key) => !belongsToPane(key));
  const env = variables.flatMap((key) =>
    request.env[key] === undefined ? [] : ["-e", `${key}=${request.env[key]}`],
  );
  const commands: Command[] = [
    [
      ...["new-session", "-d", "-s", name, "-x", `${width}`, "-y", `${height}`, "-P", "-F", "#{pane_id}"],
      ...["-n", literal(request.teamTitle), ...env, "--", ...request.argv],
    ],
    ...sessionCommands(name, ownerTag(request), variables),
  ];
  const result = await server.batch(commands, { start: !seen.running });
  const pane = paneId(result.lines[0]);
  if (pane === undefined) {
    throw new TeamError(
      "TMUX_ERROR",
      `tmux made no session for ${request.team}: ${result.errors.join("; ")}.`,
      {
        hint: "Nothing was started. `teams doctor` looks at tmux.",
        details: { kind: "refused", errors: result.errors },
      },
    );
  }
  return { name, pane, attach: ["tmux", ...server.socketArgs, "attach-session", "-t", `=${name}`] };
}
