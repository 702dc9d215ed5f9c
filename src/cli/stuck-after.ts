import { TeamError } from "../errors.ts";
import type { Home } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";

/** Returns `teams.stuckAfter` of the settings in milliseconds; notes broken settings and uses the default, so that the status is still shown. */
export async function readStuckAfterMs({ io, out }: AnyCall, { root }: Home): Promise<number> {
  const [{ loadSettings }, { settingsSchema }] = await Promise.all([
    import("../settings/settings.ts"),
    import("../settings/settings-schema.ts"),
  ]);
  try {
    return loadSettings(root, io.cwd).teams.stuckAfter * 1000;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    out.note(line`${error.message}`);
    return settingsSchema.parse({}).teams.stuckAfter * 1000;
  }
}
