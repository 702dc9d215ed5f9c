import { messageOf } from "../errors.ts";
import { terminalPath } from "../os/process/terminal-device.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Io } from "../terminal/io.ts";

interface ScreenOptions {
  readonly io: Io;
  readonly ref: TeamRef;
  readonly name: string;
  readonly directory: string;
  /** The agent itself reads its pane's output too. */
  readonly copies?: boolean;
  /** Tells the user why the screen is not recorded; the agent works without the recording. */
  readonly problem: (text: string) => void;
}

/**
 * Records this agent's screen.
 * @returns a function that ends the recording of a lead, whose pane is the user's, after its last output; undefined if
 * nothing is recorded
 */
export async function recordScreen({
  io,
  ref,
  name,
  directory,
  copies = false,
  problem,
}: ScreenOptions): Promise<(() => void) | undefined> {
  const [{ openRecording }, { callersServer }] = await Promise.all([
    import("../casts/open-recording.ts"),
    import("../backend/tmux/server-for.ts"),
  ]);
  try {
    const opened = await openRecording({
      directory,
      agent: name,
      title: `${name}@${ref.team}`,
      env: io.env,
      program: io.program,
      copies,
      server: callersServer(io.env),
      paths: { team: ref.paths, agent: ref.paths.agent(name) },
      ...(name === LEAD_NAME ? { ownTerminal: ownTerminal(io) } : {}),
    });
    if (opened.kind === "refused") problem(`the screen is not recorded: ${opened.why}`);
    if (opened.kind === "open") return () => (io.terminal.stdout ? io.out : io.err)(opened.last);
  } catch (error) {
    problem(`the screen is not recorded: ${messageOf(error)}`);
  }
  return undefined;
}

/** Returns the path of this process's terminal; without one, a text that is not a path. */
function ownTerminal({ terminal }: Io): string {
  const fd = terminal.stdout ? 1 : 2;
  return terminalPath(fd) ?? "none";
}
