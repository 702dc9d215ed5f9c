import { defaultModelName, namesOfModel } from "../../agent/model/model-names.ts";
import { agentTypeOrGeneral, DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { newAgentFacts } from "../../operations/agent-facts.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import type { Io } from "../../terminal/io.ts";
import { agentTypesIn } from "../agent/load-agent-types.ts";
import type { LeadPlan } from "./lead.ts";

/** Records the lead as a new agent. The model of a third-party CLI counts as a custom model. */
export async function recordNewLead(
  ref: TeamRef,
  plan: LeadPlan,
  { cwd, env }: Io,
  settings: Settings,
): Promise<void> {
  const { types } = await agentTypesIn(ref.home.root, cwd);
  // The plan has the id of the model, and the default is a short name.
  const names = namesOfModel(plan.model, plan.model, settings.teams.models);
  const model = names.includes(defaultModelName({ ...env, ...settings.env })) ? undefined : plan.model;
  const hasOwnPrompt = plan.promptOverrides.override !== undefined;
  const type = agentTypeOrGeneral(DEFAULT_AGENT_TYPE, types);
  const { tools } = plan.limits;
  const facts = newAgentFacts(ref.home.root, type, { model, tools, hasOwnPrompt });
  recordEvent(ref, { ...facts, ...currentEventSubject(ref, LEAD_NAME) });
}
