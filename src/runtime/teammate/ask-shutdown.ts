import { requestShutdown } from "../../operations/ending/shutdown.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { filesContext } from "../operation-context.ts";
import type { RunningTeammate } from "./running-teammate.ts";

const REASON = "A person typed /exit in your pane.";

/** Asks a teammate to shut down, for the person in its pane. The teammate answers after its turn, and ends when it agrees. */
export async function askForShutdown(
  call: AnyCall,
  { ref, member: { name }, view }: Pick<RunningTeammate, "ref" | "member" | "view">,
): Promise<void> {
  const ctx = filesContext(call, { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME });
  await requestShutdown(ctx, [name], REASON);
  view.note(`${name} was asked to shut down, and ends once it agrees; Ctrl-C twice ends it at once`);
}
