import { TeamError } from "../errors.ts";
import type { MemberStatus } from "../lead/status.ts";
import type { Home } from "../team/ref.ts";
import type { AnyCall } from "./command.ts";
import { line } from "./paint.ts";

/** Since when an agent at work that gives no sign of life is stuck: milliseconds since the epoch. */
export interface StuckSince {
  readonly now: number;
  readonly stuckAfterMs: number;
}

/** What it does begins with for how long nothing was heard of it. */
export function withStuck(member: MemberStatus, stuck: StuckSince | undefined): MemberStatus {
  const { state, activity, lastActivityAt } = member;
  const quiet = stuck === undefined || lastActivityAt === null ? 0 : stuck.now - lastActivityAt;
  if (state !== "running" || quiet <= (stuck?.stuckAfterMs ?? 0)) return member;
  const minutes = Math.floor(quiet / 60_000);
  const long = minutes < 1 ? `${Math.floor(quiet / 1000)} s` : `${minutes} min`;
  return { ...member, activity: `stuck? nothing for ${long}${activity === "" ? "" : `: ${activity}`}` };
}

/** Milliseconds, of the settings; how a team stands is told also where these are broken. */
export async function stuckAfter({ io, out }: AnyCall, { root }: Home): Promise<number> {
  const [{ loadSettings }, { settingsSchema }] = await Promise.all([
    import("./settings.ts"),
    import("./settings-schema.ts"),
  ]);
  try {
    return loadSettings(root, io.cwd).teams.stuckAfter * 1000;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    out.note(line`${error.message}`);
    return settingsSchema.parse({}).teams.stuckAfter * 1000;
  }
}
