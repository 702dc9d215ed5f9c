import { recordScreens } from "../../operations/record-screens.ts";
import { resumeTeam } from "../../operations/resume/resume.ts";
import { becomeLead } from "../../operations/run/take-over-lead.ts";
import { recordLeadLimits } from "../../operations/spawn/tool-limits.ts";
import { permissionMode } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { permittedMode } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { setLimits } from "../../team/members/budget.ts";
import { changeMetadata, findMember } from "../../team/members/members.ts";
import { modeToInherit, setMode } from "../../team/members/permission-mode.ts";
import { type TeamRef, teamRef, teamsHome } from "../../team/ref.ts";
import { renewLeases } from "../../team/tasks/unassign.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { teamSummary } from "../../worker/prompts/team-summary.ts";
import { filesContext } from "../operation-context.ts";
import type { Lead, LeadPlan, LedTeam } from "./lead.ts";
import { recordNewLead } from "./record-new-lead.ts";

/** Makes this process the lead of a team without a running lead. Keeps its conversation, mode, budget and tools unless the plan sets others. */
export async function resumeRun(call: AnyCall, plan: LeadPlan, settings: Lead["settings"]): Promise<LedTeam> {
  const home = teamsHome(call.io.env);
  const ref = teamRef(home, plan.team);
  const config = readTeam(ref);
  const lead = findMember(config, LEAD_NAME);
  const before = permittedMode(plan.mode ?? modeToInherit(lead), settings(), call.io.env);
  const { sessionId, isNew } = await becomeLead(filesContext(call, { home, ref, config, actor: LEAD_NAME }));
  if (Object.keys(plan.budget).length > 0) await setLimits(ref, undefined, plan.budget);
  if (plan.mode !== undefined) await setMode(ref, LEAD_NAME, before);
  if (plan.delegate) await setMode(ref, LEAD_NAME, "delegate");
  if (plan.screens !== undefined) await recordScreens(ref, plan.screens);
  await recordCli(ref, plan);
  await recordLeadLimits(ref, plan.limits);
  if (isNew) await recordNewLead(ref, plan, call.io, settings());
  const mode = permissionMode.safeParse(findMember(readTeam(ref), LEAD_NAME).mode);
  return { ref, sessionId, mode: mode.success ? mode.data : before };
}

/** Records which third-party CLI leads, so that a resumed run uses it again. Drops the conversation of another CLI. */
export async function recordCli(ref: TeamRef, { cli }: LeadPlan): Promise<void> {
  const before = readMetadata(findMember(readTeam(ref), LEAD_NAME), "cli");
  if (before === undefined && cli === undefined) return;
  await changeMetadata(ref, LEAD_NAME, {
    cli: cli?.name,
    effort: cli?.effort,
    ownScreen: cli?.ownScreen === true ? true : undefined,
    ...(before === cli?.name ? {} : { conversation: undefined }),
  });
}

/**
 * Restarts stopped members where they ran before, and keeps the others. The lead keeps its tasks.
 * @returns a summary of the team for the lead: a new conversation lacks it, and a resumed one may be outdated (S49)
 */
export async function restartMembers({ ctx, plan, view }: Lead): Promise<string> {
  // Without a lease, the tasks that the lead has in progress would count as unassigned.
  await renewLeases(ctx.ref, LEAD_NAME);
  const mode = plan.resumes?.teammateMode;
  const { members } = await resumeTeam(ctx, { command: "run", ...(mode === undefined ? {} : { mode }) });
  for (const { name, outcome, error } of members) {
    view.note(`${name}: ${outcome}${error === null ? "" : `, ${error.message}`}`);
  }
  return `${plan.resumes?.wasByHand ? HANDED_OVER_NOTICE : RESUMED_NOTICE}\n\n${teamSummary(ctx.ref, LEAD_NAME)}`;
}

const HANDED_OVER_NOTICE =
  "[from teams] A person led this team until now; you are its lead from now on. The current state of the team follows. \
Continue with the open work, and do not spawn members that already exist.";
const RESUMED_NOTICE =
  "[from teams] The process of this team's lead had ended; you are its lead from now on. The current state of the team follows, and replaces any older state. \
Continue with the open work, and do not spawn members that already exist.";
