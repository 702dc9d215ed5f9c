import { type Agent, type AgentOptions, createAgent } from "../../agent/agent.ts";
import { outputDirectory } from "../../agent/background/output-file.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
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
import { leadEnvironment } from "../../launch/agent-environment.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { PromptOverrides } from "../../schema/member-metadata.ts";
import { agentId, agentName } from "../../schema/names.ts";
import { bypassForbiddenBy } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamToolContext } from "../../team-tools/context.ts";
import { teamTools } from "../../team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../team-tools/tool-names.ts";
import { TeamRoster } from "../../worker/prompts/roster.ts";
import {
  COORDINATOR_PART,
  LEAD_PART,
  leadSection,
  type TeamFacts,
  teammateSection,
} from "../../worker/prompts/team-sections.ts";
import { teamSummary } from "../../worker/prompts/team-summary.ts";
import { agentHooks } from "./agent-hooks.ts";
import { workingDirectories } from "./agent-sandbox.ts";
import { environmentFacts } from "./environment-facts.ts";
import { RECORDING_VARIABLE } from "./recording.ts";
import { nonTeamTools, resourceSections, type SharedParts, subagentRunner } from "./subagents.ts";

interface AgentParts extends SharedParts {
  readonly role: "teammate" | "lead";
  readonly model: Model;
  readonly agentType: string;
  /** Overrides of the system prompt, from the flags of `run` or `spawn`. */
  readonly promptOverrides?: PromptOverrides;
  /** Notes of agents of its type. */
  readonly notes?: Notes | undefined;
  readonly spawn: SpawnOptions;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly addDirs?: readonly string[] | undefined;
  /** No user can be asked: there is no terminal. */
  readonly isUnattended: boolean;
  /** For a lead whose user types goals one after another. */
  readonly isConversational?: boolean;
  readonly snapshot: NonNullable<AgentOptions["snapshot"]>;
  readonly keepsTeam?: boolean;
  readonly onTeamRecreated?: TeamToolContext["onTeamRecreated"];
}

/** Creates an agent for a worker, with its model, tools, permissions, prompt and conversation. */
export function assembleAgent(parts: AgentParts): Agent {
  const { ctx, worker, settings, notes, snapshot } = parts;
  const type = agentTypeOrGeneral(parts.agentType, parts.types);
  const denials = [...(type.disallowedTools ?? []), ...(parts.disallowedTools ?? [])];
  const deny = (): readonly string[] => [...settings().permissions.deny, ...denials];
  const {
    TEAMS_BELL_FD: _fd,
    TEAMS_RESULT: _result,
    [RECORDING_VARIABLE]: _recording,
    ...inherited
  } = ctx.env;
  const env = {
    ...(parts.role === "lead" ? leadEnvironment(inherited) : inherited),
    TEAMS_AGENT: agentId(agentName(worker.name), ctx.ref.team),
    // Marks the processes that a killed lead leaves behind. A teammate has the marker of its start already.
    ...(parts.role === "lead" ? { [INSTANCE_VARIABLE]: parts.sessionId } : {}),
  };
  const hooks = agentHooks(parts, env);
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
    workingDirs: () => workingDirectories(parts),
    readDirs: [outputDirectory(ctx.cwd), ...(parts.resources?.readDirs ?? [])],
    planFile: worker.planApproval.planFile,
    protectedDirs: [ctx.home.root],
    ...(notes === undefined ? {} : { notes: notes.directory }),
    coordinator: parts.role === "lead",
    ask: (request, signal) => worker.askPermission(request, signal),
  };
  const { passSecrets } = settings().teams;
  const subagent = subagentRunner(
    parts,
    { env, passSecrets, hooks, permissions, snapshot, sandbox: parts.sandbox },
    type.tools,
  );
  const tools = withPlanTools(parts, toolsOf({ ...parts, hooks, subagent }, type, denials), denials);
  // Checked per call: settings may stop denying a tool.
  const offers = (tool: AnyTool): boolean =>
    isOffered(parts, tool) && !deny().some((rule) => coversWholeTool(rule, tool));
  const roster = new TeamRoster(() => memberNames(ctx).filter((name) => name !== worker.name));
  const own = { type, offered: () => tools.filter(offers), roster, environment: environmentFacts(ctx) };
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
    snapshot,
    sandbox: parts.sandbox,
    permissions,
    onEvent: (event) => {
      if (event.type === "compacted") roster.reset();
      worker.onEvent(event);
    },
    facts: () => teamSummary(ctx.ref, worker.name),
    onTaskEnd: (notice) => worker.notifyTaskEnd(notice),
    onBackgroundChange: (tasks) => worker.recordBackground(tasks),
    onInputRecorded: () => worker.onInputRecorded(),
    betweenTools: () => worker.betweenTools(),
    beforeCall: (signal) => worker.beforeCall(signal),
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
  const writing = isMissing(writeTool) ? [restrictTool(writeTool, "your plan alone", isPlan)] : [];
  return [
    // A Write restricted to notes may also write the plan.
    ...own.map((tool) =>
      isRestrictionOf(tool, writeTool) ? widenTool(tool, writeTool, "your plan", isPlan) : tool,
    ),
    ...[
      ...reading.map((tool) => restrictTool(tool, "planning alone", isPlanning)),
      ...chooseTools(writing, { without: deny }),
    ].map((tool) => ({ ...tool, whilePlanning: true })),
  ];
}

const PLANNING_TOOLS = [readTool, globTool, grepTool];

function coordinates({ role, worker }: Pick<AgentParts, "role" | "worker">): boolean {
  return role === "lead" && worker.planApproval.mode === "delegate";
}

/** Returns the tools of its type, limited to its allowed ones, without those that a rule denies as a whole. */
function toolsOf(
  parts: AgentParts & Pick<TeamToolContext, "hooks" | "subagent">,
  type: AgentType,
  deny: readonly string[],
): AnyTool[] {
  return [
    ...nonTeamTools(type, parts, parts.notes, deny),
    ...chooseTools(teamTools({ ...parts, typeTools: type.tools }), { without: deny }),
  ];
}

/** Composes the prompt before each model call, since mode and roster may change. */
function systemPrompt(
  parts: AgentParts,
  own: {
    readonly type: AgentType;
    readonly offered: () => readonly AnyTool[];
    readonly roster: TeamRoster;
    readonly environment: ReturnType<typeof environmentFacts>;
  },
): string {
  const { role, isUnattended, notes, promptOverrides } = parts;
  const facts = teamFacts(parts, own.roster);
  const { mode, planFile } = parts.worker.planApproval;
  const isLead = role === "lead";
  const section = isLead
    ? leadSection({
        ...facts,
        run: isUnattended ? "alone" : parts.isConversational ? "open" : "goal",
        delegate: coordinates(parts),
        plans: mode === "plan",
      })
    : teammateSection({ ...facts, planFile: mode === "plan" ? planFile : undefined });
  const tools = own.offered().map(({ name }) => name);
  return composeSystem({
    override: promptOverrides?.override,
    agentType: isLead ? asLeadType(own.type, coordinates(parts)) : own.type,
    tools,
    ...own.environment,
    worksFor: isLead && isUnattended ? "absent-person" : "person",
    mode,
    append: [...resourceSections(parts, tools), notes?.section ?? "", section, promptOverrides?.append ?? ""],
  });
}

/** Replaces the prompt of a lead's type in delegate mode, and that of the built-in general type, which would do all work itself. */
function asLeadType(type: AgentType, coordinates: boolean): AgentType {
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

/** Returns no names if the lead has deleted its team: it still writes its result. */
function memberNames(ctx: OperationContext): string[] {
  try {
    return readTeam(ctx.ref).members.map(({ name }) => name);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
    throw error;
  }
}
