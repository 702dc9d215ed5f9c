import { EXIT } from "../../errors.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { LiveRegion } from "../../terminal/live/live-region.ts";
import type { PaneView } from "../../terminal/pane/pane-view.ts";
import { HUNG_UP } from "../../terminal/process-io.ts";
import type { ReadyTeammate } from "./become-ready.ts";

/** A teammate at work. */
export interface RunningTeammate extends ReadyTeammate {
  readonly config: TeamConfig;
  readonly member: TeamMember;
  readonly io: Io;
  readonly view: PaneView;
  /** The last rows of its terminal; undefined if it has no terminal. */
  readonly region: LiveRegion | undefined;
  /** Loaded at first use. */
  settings?: LiveSettings;
  /** Called at the end of the teammate to close what it has opened. */
  readonly ends: (() => Promise<void>)[];
}

/** Returns settings that are always current. */
export async function settingsOf(self: RunningTeammate): Promise<LiveSettings> {
  const { liveSettings } = await import("../../settings/live-settings.ts");
  const { ref, io, view } = self;
  self.settings ??= liveSettings(ref.home.root, io.cwd, (problem) => view.error(problem));
  return self.settings;
}

/** Returns 128 + signal number, as a shell reports it; the exit record has the same code. */
export function signalStatus({ reason }: AbortSignal): number {
  return reason === "SIGHUP" ? HUNG_UP : reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
