import { type Agent, createAgent } from "../../agent/agent.ts";
import { outputDirectory } from "../../agent/background/output-file.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
import { type HookOptions, Hooks } from "../../agent/hooks/hooks.ts";
import type { HookEvent, HooksSetting } from "../../agent/hooks/settings.ts";
import type { Model } from "../../agent/model/model.ts";
import { coversWholeTool } from "../../agent/permissions/rules.ts";
import { type AgentType, agentTypeOrGeneral, DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { composeSystem } from "../../agent/prompts/system-prompt.ts";
import type { Notes } from "../../agent/prompts/type-notes.ts";
import type { AnyTool } from "../../agent/tool.ts";
import { globTool } from "../../agent/tools/glob.ts";
import { grepTool } from "../../agent/tools/grep.ts";
import { readTool } from "../../agent/tools/read.ts";
import { chooseTools, isRestrictionOf, restrictTool, widenTool } from "../../agent/tools/select-tools.ts";
import { writeTool } from "../../agent/tools/write.ts";
import type { AgentPermissions } from "../../agent/turn/permitted-call.ts";
import { TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { Env } from "../../os/env.ts";
import { realPathOf } from "../../os/files/real-path.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { PromptOverrides } from "../../schema/member-metadata.ts";
import { agentId, agentName } from "../../schema/names.ts";
import { additionalDirectories, bypassForbiddenBy } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamToolContext } from "../../team-tools/context.ts";
import { teamTools } from "../../team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../team-tools/tool-names.ts";
import { IdleHook } from "../../worker/gates/idle-hook.ts";
import {
  COORDINATOR_PART,
  LEAD_PART,
  leadSection,
  type TeamFacts,
  teammateSection,
} from "../../worker/prompts/role-prompts.ts";
import { TeamRoster } from "../../worker/prompts/roster.ts";
import { teamSummary } from "../../worker/prompts/team-summary.ts";
import { environmentFacts } from "./environment-facts.ts";
import { RECORDING } from "./recording.ts";
import { type SharedParts, subagentRunner, surroundingSections, toolsOfOwn } from "./subagents.ts";

interface AgentParts extends SharedParts {
  readonly role: "teammate" | "lead";
  readonly model: Model;
  readonly agentType: string;
  /** What whoever started it had to say of its prompt. */
  readonly words?: PromptOverrides;
  /** What agents of its type have noted. */
  readonly notes?: Notes | undefined;
  readonly sessionId: string;
  readonly spawn: SpawnOptions;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly addDirs?: readonly string[] | undefined;
  /** Nobody can be asked: no terminal. */
  readonly alone: boolean;
  /** Of a lead whose goals are typed, one after another. */
  readonly open?: boolean;
  readonly snapshot?: (() => string | undefined) | undefined;
  readonly keepsTeam?: boolean;
  readonly onTeamRecreated?: TeamToolContext["onTeamRecreated"];
}

/** Puts an agent together for a worker: its model, tools, rights, prompt and conversation. */
export function assembleAgent(parts: AgentParts): Agent {
  const { ctx, worker, settings, notes } = parts;
  const type = agentTypeOrGeneral(parts.agentType, parts.types);
  const never = [...(type.disallowedTools ?? []), ...(parts.disallowedTools ?? [])];
  const deny = (): readonly string[] => [...settings().permissions.deny, ...never];
  const { TEAMS_BELL_FD: _fd, TEAMS_RESULT: _result, [RECORDING]: _recording, ...inherited } = ctx.env;
  const env = {
    ...inherited,
    TEAMS_AGENT: agentId(agentName(worker.name), ctx.ref.team),
    // A teammate has the mark of its start; by this, what a lead leaves that is killed is found.
    ...(parts.role === "lead" ? { [INSTANCE_VARIABLE]: parts.sessionId } : {}),
  };
  const hooks = hooksOf(parts, env);
  worker.planApproval.restrictModes((mode) =>
    mode === "bypassPermissions" ? bypassForbiddenBy(settings(), ctx.env) : undefined,
  );
  const permissions: AgentPermissions = {
    mode: () => worker.planApproval.mode,
    rules: () => ({
      allow: [
        ...settings().permissions.allow,
        ...(parts.allowedTools ?? []),
        ...worker.permissionRequests.sessionRules,
      ],
      ask: settings().permissions.ask,
      deny: deny(),
    }),
    workingDirs: () => [ctx.cwd, ...(parts.addDirs ?? []), ...additionalDirectories(settings(), ctx)],
    readDirs: [outputDirectory(ctx.cwd), ...(parts.surroundings?.readDirs ?? [])],
    planFile: worker.planApproval.planFile,
    protectedDirs: [ctx.home.root],
    ...(notes === undefined ? {} : { notes: notes.directory }),
    coordinator: parts.role === "lead",
    ask: (request, signal) => worker.askPermission(request, signal),
  };
  const snapshot = parts.snapshot === undefined ? {} : { snapshot: parts.snapshot };
  const { passSecrets } = settings().teams;
  const subagent = subagentRunner(parts, { env, passSecrets, hooks, permissions, ...snapshot }, type.tools);
  const tools = withPlanTools(parts, toolsOf({ ...parts, hooks, subagent }, type, never), never);
  // What only settings deny is had again once they do not.
  const offers = (tool: AnyTool): boolean =>
    isOffered(parts, tool) && !deny().some((rule) => coversWholeTool(rule, tool));
  const roster = new TeamRoster(() => memberNames(ctx).filter((name) => name !== worker.name));
  const own = { type, offered: () => tools.filter(offers), roster, whereabouts: environmentFacts(ctx) };
  worker.roster = roster;
  return createAgent({
    model: parts.model,
    tools,
    isOffered: offers,
    hooks,
    system: () => systemPrompt(parts, own),
    transcript: openTranscript(transcriptPath(ctx.home.root, parts.sessionId), {
      sessionId: parts.sessionId,
      secrets: secretsOf(ctx.env),
    }),
    cwd: ctx.cwd,
    env,
    passSecrets,
    ...snapshot,
    permissions,
    onEvent: (event) => {
      if (event.type === "compacted") roster.reset();
      worker.onEvent(event);
    },
    facts: () => teamSummary(ctx.ref, worker.name),
    onTaskEnd: (notice) => worker.notifyTaskEnd(notice),
    onInputRecorded: () => worker.onInputRecorded(),
    betweenTools: () => worker.betweenTools(),
    beforeCall: (signal) => worker.beforeCall(signal),
    clock: ctx.clock,
  });
}

/** What a lead has that only coordinates: those of its team. */
const COORDINATION: ReadonlySet<string> = new Set(TEAM_TOOL_NAMES);

/** Whether the model is told of a tool now. */
function isOffered(parts: AgentParts, { name, whilePlanning }: AnyTool): boolean {
  if (parts.role === "lead" && parts.alone && name === "AskUserQuestion") return false;
  if (coordinates(parts)) return COORDINATION.has(name);
  return whilePlanning !== true || parts.worker.planApproval.mode === "plan";
}

/**
 * With what a plan is made of and written with, for a teammate whose type lacks it: had as long as it plans, and to write for that
 * one file.
 */
function withPlanTools(
  { role, tools: only, worker: { planApproval } }: AgentParts,
  had: readonly AnyTool[],
  deny: readonly string[],
): readonly AnyTool[] {
  if (role === "lead") return had;
  const plans = (): boolean => planApproval.mode === "plan";
  const isPlan = (paths: readonly string[]): boolean =>
    plans() && paths.every((path) => path === realPathOf(planApproval.planFile));
  const lent = (tool: AnyTool): boolean => !had.some(({ name }) => name === tool.name);
  const reading = chooseTools(PLANNING.filter(lent), { only, without: deny });
  const writing = lent(writeTool) ? [restrictTool(writeTool, "your plan alone", isPlan)] : [];
  return [
    // One that has it for its notes has it for its plan too.
    ...had.map((tool) =>
      isRestrictionOf(tool, writeTool) ? widenTool(tool, writeTool, "your plan", isPlan) : tool,
    ),
    ...[
      ...reading.map((tool) => restrictTool(tool, "planning alone", plans)),
      ...chooseTools(writing, { without: deny }),
    ].map((tool) => ({ ...tool, whilePlanning: true })),
  ];
}

/** What shows a planner what is there. */
const PLANNING = [readTool, globTool, grepTool];

function coordinates({ role, worker }: Pick<AgentParts, "role" | "worker">): boolean {
  return role === "lead" && worker.planApproval.mode === "delegate";
}

/** The hooks of its settings, with the worker's leave to rest in their hands. */
function hooksOf({ ctx, worker, role, agentType, sessionId, settings }: AgentParts, env: Env): Hooks {
  const notice = (event: HookEvent, text: string): void => worker.onEvent({ type: "hook", event, text });
  const transcript = transcriptPath(ctx.home.root, sessionId);
  const setting = (): HooksSetting => settings().hooks;
  const { passSecrets, hooks: bounds } = settings().teams;
  const ran: HookOptions["onRan"] = (event, result, ms) =>
    worker.onEvent({ type: "hook_ran", event, result, ms });
  const hooks = new Hooks({
    setting,
    sessionId,
    transcript,
    cwd: ctx.cwd,
    env,
    passSecrets,
    onNotice: notice,
    onRan: ran,
  });
  const { maxContinuations } = bounds;
  const { name } = worker;
  const { team } = ctx.ref;
  const id = agentId(agentName(name), team);
  worker.idleHook = new IdleHook({
    hooks,
    role,
    name,
    team,
    agentId: id,
    agentType,
    transcript,
    maxContinuations,
    notice,
  });
  return hooks;
}

/** What its type has, of that what it was given, and nothing that a rule denies whatever it is called with. */
function toolsOf(
  parts: AgentParts & Pick<TeamToolContext, "hooks" | "subagent">,
  type: AgentType,
  deny: readonly string[],
): AnyTool[] {
  return [
    ...toolsOfOwn(type, parts, parts.notes, deny),
    ...chooseTools(teamTools({ ...parts, typeTools: type.tools }), { without: deny }),
  ];
}

/** Made anew before each call of the model, so that it says what mode it is in now. */
function systemPrompt(
  parts: AgentParts,
  own: {
    readonly type: AgentType;
    readonly offered: () => readonly AnyTool[];
    readonly roster: TeamRoster;
    readonly whereabouts: ReturnType<typeof environmentFacts>;
  },
): string {
  const { role, alone, notes, words } = parts;
  const facts = teamFacts(parts, own.roster);
  const { mode, planFile } = parts.worker.planApproval;
  const isLead = role === "lead";
  const section = isLead
    ? leadSection({
        ...facts,
        run: alone ? "alone" : parts.open ? "open" : "goal",
        delegate: coordinates(parts),
        plans: mode === "plan",
      })
    : teammateSection({ ...facts, planFile: mode === "plan" ? planFile : undefined });
  const tools = own.offered().map(({ name }) => name);
  return composeSystem({
    override: words?.override,
    agentType: isLead ? leading(own.type, coordinates(parts)) : own.type,
    tools,
    ...own.whereabouts,
    worksFor: isLead && alone ? "absent-person" : "person",
    mode,
    append: [...surroundingSections(parts, tools), notes?.section ?? "", section, words?.append ?? ""],
  });
}

/** A lead's part is to lead: the general type would have it do all of the work itself, and any type does where it only coordinates. */
function leading(type: AgentType, coordinates: boolean): AgentType {
  if (coordinates) return { ...type, prompt: COORDINATOR_PART };
  return type.name === DEFAULT_AGENT_TYPE && type.file === undefined ? { ...type, prompt: LEAD_PART } : type;
}

function teamFacts({ ctx, worker }: AgentParts, roster: TeamRoster): TeamFacts {
  return {
    name: worker.name,
    team: ctx.ref.team,
    others: roster.names,
    configFile: ctx.ref.paths.config,
    taskDirectory: ctx.ref.paths.tasks,
  };
}

/** A lead that has deleted its team still says its result: nobody is there then. */
function memberNames(ctx: OperationContext): string[] {
  try {
    return readTeam(ctx.ref).members.map(({ name }) => name);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
    throw error;
  }
}
