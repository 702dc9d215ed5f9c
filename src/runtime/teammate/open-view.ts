import type { TeamMember } from "../../schema/config.ts";
import type { Io } from "../../terminal/io.ts";
import { type LiveRegion, liveRegion } from "../../terminal/live/live-region.ts";
import { wantsColors } from "../../terminal/output.ts";
import { createPaneView, type PaneView } from "../../terminal/pane/pane-view.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import type { InProcessHost } from "./become-ready.ts";

/** Columns of the log of a teammate whose terminal shows the screen of a CLI. */
const OWN_LOG_WIDTH = 120;

/** Facts that decide where the output of a teammate goes. */
interface Outlets {
  readonly member: TeamMember;
  /** Path of the file for its output if it has no terminal. */
  readonly log: string;
  /** The same if its terminal shows the screen of a CLI. */
  readonly ownLog: string | undefined;
  readonly host: InProcessHost | undefined;
}

/** Opens the output of a teammate: its terminal, the view of its lead, or a log. */
export async function openView(
  io: Io,
  { member: { name, color }, log, ownLog, host }: Outlets,
): Promise<{ readonly pane: PaneView; readonly region: LiveRegion | undefined }> {
  if (ownLog !== undefined) {
    const { openLogFile } = await import("../../os/files/capped-log.ts");
    const { write } = openLogFile(ownLog);
    const how = { width: () => OWN_LOG_WIDTH, plain: true, readOnly: true };
    return { pane: createPaneView({ name, color, write, ...how }), region: undefined };
  }
  const abilities = terminalAbilities(io.env);
  const agent = { name, color, cwd: io.cwd };
  if (host !== undefined) {
    return {
      pane: createPaneView({ ...agent, ...host, abilities, markdown: true, isHosted: true }),
      region: undefined,
    };
  }
  const width = (): number => io.columns ?? 80;
  const common = { ...agent, width, readOnly: !io.terminal.stdin };
  if (!io.terminal.stdout) {
    const { writerToLog } = await import("../../os/files/capped-log.ts");
    const write = writerToLog(io.out, log);
    return { pane: createPaneView({ ...common, write, plain: true }), region: undefined };
  }
  const height = (): number => io.rows ?? 24;
  const plain = !wantsColors(io.env, true);
  const region = liveRegion({ out: io.out, width, height, plain, ascii: abilities.ascii, apart: true });
  const { write } = region;
  const pane = createPaneView({ ...common, write, region, abilities, height, plain, rings: true });
  return { pane, region };
}
