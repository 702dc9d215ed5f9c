import { type Agent, type AgentOptions, createAgent } from "../../agent/agent.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
import type { Model } from "../../agent/model/model.ts";
import { coversWholeTool } from "../../agent/permissions/rules.ts";
import { type AgentType, agentTypeOrGeneral } from "../../agent/prompts/agent-types.ts";
import type { AnyTool } from "../../agent/tool.ts";
import { globTool } from "../../agent/tools/glob.ts";
import { grepTool } from "../../agent/tools/grep.ts";
import { readTool } from "../../agent/tools/read.ts";
import { chooseTools, isRestrictionOf, restrictTool, widenTool } from "../../agent/tools/select-tools.ts";
import { writeTool } from "../../agent/tools/write.ts";
import type { AgentPermissions } from "../../agent/turn/permission.ts";
import { areTeamsOff } from "../../launch/agent-environment.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { SharedEdits } from "../../team/tasks/shared-edits.ts";
import type { TeamToolContext } from "../../team-tools/context.ts";
import { teamTools } from "../../team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../team-tools/tool-names.ts";
import { TeamRoster } from "../../worker/prompts/roster.ts";
import { teamSummary } from "../../worker/prompts/team-summary.ts";
import { taskVerifier } from "../task-verifier.ts";
import { agentHooks } from "./agent-hooks.ts";
import { coordinates, memberNames, type PromptParts, systemPrompt } from "./agent-prompt.ts";
import { agentEnv, agentPermissions } from "./agent-rights.ts";
import { environmentFacts } from "./environment-facts.ts";
import { SessionStart, sessionVariables } from "./session-start.ts";
import { nonTeamTools, type SharedParts, subagentRunner } from "./subagents.ts";
import { watchEdits } from "./watched-tools.ts";

interface AgentParts extends SharedParts, PromptParts {
  readonly model: Model;
  readonly agentType: string;
  readonly spawn: SpawnOptions;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly addDirs?: readonly string[] | undefined;
  readonly snapshot: NonNullable<AgentOptions["snapshot"]>;
  /** Aborts when the agent's process ends. */
  readonly signal: AbortSignal;
  readonly keepsTeam?: boolean;
  readonly onTeamMoved?: TeamToolContext["onTeamMoved"];
  readonly onTeamDelete?: TeamToolContext["onTeamDelete"];
}

/** Creates an agent for a worker, with its model, tools, permissions, prompt and conversation, and runs its SessionStart hooks. */
export async function assembleAgent(given: Omit<AgentParts, "teamsOff">): Promise<Agent> {
  /** The model that a person chose after the start; subagents use it, too. */
  let chosen: string | undefined;
  const parts: AgentParts = {
    ...given,
    teamsOff: given.role === "lead" && areTeamsOff(given.ctx.env),
    modelFor: (agent, name, isBackground) => given.modelFor(agent, name ?? chosen, isBackground),
  };
  const { ctx, worker, settings, notes, snapshot } = parts;
  const type = agentTypeOrGeneral(parts.agentType, parts.types);
  const denials = [...(type.disallowedTools ?? []), ...(parts.disallowedTools ?? [])];
  const deny = (): readonly string[] => [...settings().permissions.deny, ...denials];
  const env = agentEnv(parts);
  const session = sessionVariables(parts, env);
  const hooks = agentHooks({ ...parts, variables: session }, env);
  const start = new SessionStart({ ...parts, hooks, variables: session });
  const variables: AgentOptions["sessionVariables"] = (isOutside) => session.assignments(isOutside);
  const permissions: AgentPermissions = {
    ...agentPermissions(parts, denials),
    ...(notes === undefined ? {} : { notes: notes.directory }),
  };
  const { passSecrets } = settings().teams;
  const edits = new SharedEdits({
    ref: ctx.ref,
    member: worker.name,
    clock: ctx.clock,
    onProblem: (text) => worker.onEvent({ type: "hook", event: "edits", text }),
  });
  const onEdit = (path: string): Promise<void> => edits.add(path);
  const subagent = subagentRunner(
    { ...parts, onEdit },
    { env, passSecrets, hooks, permissions, snapshot, sessionVariables: variables, sandbox: parts.sandbox },
    type.tools,
  );
  const note = (text: string): void => worker.onEvent({ type: "hook", event: "verify", text });
  const verify = taskVerifier({ ref: ctx.ref, env, actor: worker.name, note });
  const planned = withPlanTools(
    parts,
    toolsOf({ ...parts, hooks, verify, subagent }, type, denials),
    denials,
  );
  const tools = watchEdits(planned, onEdit);
  // Checked per call: settings may stop denying a tool.
  const offers = (tool: AnyTool): boolean =>
    isOffered(parts, tool) && !deny().some((rule) => coversWholeTool(rule, tool));
  const roster = new TeamRoster(() => memberNames(ctx).filter((name) => name !== worker.name));
  const own = { type, offered: () => tools.filter(offers), roster, environment: environmentFacts(ctx) };
  worker.roster = roster;
  await start.begin(parts.signal);
  return createAgent({
    model: parts.model,
    modelNamed: async (name) => {
      const model = await given.modelFor(worker.name, name);
      chosen = name;
      return model;
    },
    tools,
    isOffered: offers,
    hooks,
    system: () => [systemPrompt(parts, own), start.section].filter(Boolean).join("\n\n"),
    transcript: openTranscript(transcriptPath(ctx.home.root, parts.sessionId), {
      sessionId: parts.sessionId,
      secrets: secretsOf(ctx.env),
    }),
    cwd: ctx.cwd,
    env,
    passSecrets,
    snapshot,
    sessionVariables: variables,
    sandbox: parts.sandbox,
    permissions,
    onSessionStart: (source, signal) => start.run(source, signal),
    onEvent: (event) => {
      if (event.type === "compacted" || event.type === "cleared") roster.reset();
      worker.onEvent(event);
    },
    facts: () => teamSummary(ctx.ref, worker.name),
    onTaskEnd: (notice) => worker.notifyTaskEnd(notice),
    onBackgroundChange: (tasks) => worker.recordBackground(tasks),
    onInputRecorded: (keys) => worker.onInputRecorded(keys),
    betweenTools: () => worker.betweenTools(),
    beforeCall: (signal) => worker.budget.beforeCall(signal),
    clock: ctx.clock,
  });
}

/** The tools of a lead that only coordinates. */
const COORDINATOR_TOOLS: ReadonlySet<string> = new Set(TEAM_TOOL_NAMES);

/** Whether a tool is in the next request to the model. */
function isOffered(parts: AgentParts, { name, whilePlanning }: AnyTool): boolean {
  if (parts.role === "lead" && parts.isUnattended && name === "AskUserQuestion") return false;
  if (coordinates(parts)) return COORDINATOR_TOOLS.has(name);
  return whilePlanning !== true || parts.worker.planApproval.mode === "plan";
}

/**
 * Adds tools to read and to write the plan for a teammate whose type lacks them. They work only in plan mode, and Write
 * only for the plan's file.
 */
function withPlanTools(
  { role, tools: only, worker: { planApproval } }: AgentParts,
  own: readonly AnyTool[],
  deny: readonly string[],
): readonly AnyTool[] {
  if (role === "lead") return own;
  const isPlanning = (): boolean => planApproval.mode === "plan";
  const isPlan = (paths: readonly string[]): boolean =>
    isPlanning() && paths.every((path) => path === realPathOf(planApproval.planFile));
  const isMissing = (tool: AnyTool): boolean => !own.some(({ name }) => name === tool.name);
  const reading = chooseTools(PLANNING_TOOLS.filter(isMissing), { only, without: deny });
  const writing = isMissing(writeTool) ? [restrictTool(writeTool, "your plan", isPlan)] : [];
  return [
    // A Write restricted to notes may also write the plan.
    ...own.map((tool) =>
      isRestrictionOf(tool, writeTool) ? widenTool(tool, writeTool, "your plan", isPlan) : tool,
    ),
    ...[
      ...reading.map((tool) => restrictTool(tool, "planning", isPlanning)),
      ...chooseTools(writing, { without: deny }),
    ].map((tool) => ({ ...tool, whilePlanning: true })),
  ];
}

const PLANNING_TOOLS = [readTool, globTool, grepTool];

/** Returns the tools of the agent's type, limited to `tools`, without tools that a rule denies as a whole. */
function toolsOf(
  parts: AgentParts & Pick<TeamToolContext, "hooks" | "verify" | "subagent">,
  type: AgentType,
  deny: readonly string[],
): AnyTool[] {
  return [
    ...nonTeamTools(type, parts, parts.notes, deny),
    ...chooseTools(teamTools({ ...parts, typeTools: type.tools }), { without: deny }),
  ];
}
