import type { TeamMember } from "../../schema/config.ts";
import type { Io } from "../../terminal/io.ts";
import { type LiveRegion, liveRegion } from "../../terminal/live-region.ts";
import { createPaneView, type PaneView } from "../../terminal/pane/pane-view.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import type { InProcessHost } from "./become-ready.ts";

/** Columns of the log of a teammate whose terminal shows the screen of a CLI. */
const OWN_LOG_WIDTH = 120;

/**
 * Opens the output of a teammate: its terminal, the view of its lead, or a log.
 * @param log path of the file for its output if it has no terminal
 * @param ownLog the same if its terminal shows the screen of a CLI
 */
export async function openView(
  io: Io,
  member: TeamMember,
  log: string,
  host: InProcessHost | undefined,
  ownLog: string | undefined,
): Promise<{ readonly pane: PaneView; readonly region: LiveRegion | undefined }> {
  const { name, color } = member;
  if (ownLog !== undefined) {
    const { openLogFile } = await import("../../os/files/capped-log.ts");
    const { write } = openLogFile(ownLog);
    const quiet = { name, color, plain: true, rings: false, readOnly: true };
    return { pane: createPaneView({ write, width: () => OWN_LOG_WIDTH, ...quiet }), region: undefined };
  }
  const abilities = terminalAbilities(io.env);
  const { cwd } = io;
  if (host !== undefined) {
    return {
      pane: createPaneView({ ...host, name, color, cwd, abilities, markdown: true }),
      region: undefined,
    };
  }
  const width = (): number => io.columns ?? 80;
  const height = (): number => io.rows ?? 24;
  if (!io.terminal.stdout) {
    const { writerToLog } = await import("../../os/files/capped-log.ts");
    const write = writerToLog(io.out, log);
    return {
      pane: createPaneView({
        write,
        name,
        color,
        cwd,
        width,
        plain: true,
        rings: false,
        readOnly: !io.terminal.stdin,
      }),
      region: undefined,
    };
  }
  const plain = Boolean(io.env.NO_COLOR);
  const region = liveRegion({ out: io.out, width, height, plain, ascii: abilities.ascii });
  return {
    pane: createPaneView({
      write: region.write,
      region,
      abilities,
      name,
      color,
      cwd,
      width,
      height,
      plain,
      rings: true,
      readOnly: !io.terminal.stdin,
    }),
    region,
  };
}
