import { resumeTeam } from "../../operations/resume/resume.ts";
import { becomeLead } from "../../operations/run/take-over-lead.ts";
import { permissionMode } from "../../schema/config.ts";
import { LEAD_NAME, teamDir } from "../../schema/names.ts";
import { permittedMode } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { setLimits } from "../../team/members/budget.ts";
import { findMember } from "../../team/members/members.ts";
import { modeToInherit, setMode } from "../../team/members/permission-mode.ts";
import { teamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { teamSummary } from "../../worker/prompts/team-summary.ts";
import { filesContext } from "../operation-context.ts";
import type { Lead, LeadPlan, MadeTeam } from "./lead.ts";

/** Makes this process the lead of a team whose lead has ended, in that one's conversation, mode and budget unless told otherwise. */
export async function resumeRun(
  call: AnyCall,
  plan: LeadPlan,
  settings: Lead["settings"],
): Promise<MadeTeam> {
  const home = teamsHome(call.io.env);
  const ref = teamRef(home, teamDir(plan.team));
  const config = readTeam(ref);
  const lead = findMember(config, LEAD_NAME);
  const before = permittedMode(plan.mode ?? modeToInherit(lead), settings(), call.io.env);
  const { sessionId } = await becomeLead(filesContext(call, { home, ref, config, actor: LEAD_NAME }));
  if (Object.keys(plan.budget).length > 0) await setLimits(ref, undefined, plan.budget);
  if (plan.mode !== undefined) await setMode(ref, LEAD_NAME, before);
  if (plan.delegate) await setMode(ref, LEAD_NAME, "delegate");
  const mode = permissionMode.safeParse(findMember(readTeam(ref), LEAD_NAME).mode);
  return { ref, sessionId, mode: mode.success ? mode.data : before };
}

/**
 * Starts those again that have died, where they lived; the others are kept.
 * @returns what the lead is told of its team: a new one knows nothing of it, and another's conversation may be behind it (S49)
 */
export async function restartMembers({ ctx, plan, view }: Lead): Promise<string> {
  const mode = plan.takesUp?.teammateMode;
  const { members } = await resumeTeam(ctx, { command: "run", ...(mode === undefined ? {} : { mode }) });
  for (const { name, outcome, error } of members) {
    view.note(`${name}: ${outcome}${error === null ? "" : `, ${error.message}`}`);
  }
  return `${plan.takesUp?.wasByHand ? HANDED_OVER : TAKEN_UP}\n\n${teamSummary(ctx.ref, LEAD_NAME)}`;
}

const HANDED_OVER =
  "[said by teams] A person led this team until now, and you are its lead now. What follows is so now. \
Continue with what is open; start nobody again who is there.";
const TAKEN_UP =
  "[said by teams] The process of this team's lead had ended, and you are its lead now. What follows is so now, whatever came before. \
Continue with what is open; start nobody again who is there.";
