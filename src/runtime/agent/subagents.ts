import { randomUUID } from "node:crypto";
import type { AgentOptions } from "../../agent/agent.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
import type { Model } from "../../agent/model/model.ts";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import { type AgentType, agentTypeOrGeneral } from "../../agent/prompts/agent-types.ts";
import { composeSystem, SUBAGENT_SECTION } from "../../agent/prompts/system-prompt.ts";
import { type Notes, openNotes } from "../../agent/prompts/type-notes.ts";
import type { AgentSandbox } from "../../agent/sandbox/agent-sandbox.ts";
import { runSubagent, type SubagentResult } from "../../agent/subagent.ts";
import type { AnyTool } from "../../agent/tool.ts";
import { builtinTools } from "../../agent/tools/builtin-tools.ts";
import { chooseTools, withNoteTools } from "../../agent/tools/select-tools.ts";
import type { AgentPermissions } from "../../agent/turn/permission.ts";
import { newAgentFacts } from "../../operations/agent-facts.ts";
import type { OperationContext } from "../../operations/context.ts";
import { exceedsMode } from "../../operations/permission-mode.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { EventFacts, EventSubject } from "../../schema/event.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { SubagentCall, TeamToolContext } from "../../team-tools/context.ts";
import type { Worker } from "../../worker/worker.ts";
import type { AgentResources } from "./agent-resources.ts";
import { environmentFacts } from "./environment-facts.ts";
import { readDenialsOf } from "./read-denials.ts";
import { watchEdits } from "./watched-tools.ts";

/** The parts that an agent shares with its subagents. */
export interface SharedParts {
  readonly ctx: OperationContext;
  readonly worker: Worker;
  /** The agent's own session, in which its subagents run. */
  readonly sessionId: string;
  /**
   * Returns the model of a subagent: the named one, else the agent's. `agent` names its list in a playbook. `isBackground`: the
   * subagent is not part of the agent's turn.
   */
  readonly modelFor: (agent: string, name: string | undefined, isBackground?: boolean) => Promise<Model>;
  readonly settings: LiveSettings;
  /** Names of the only tools that the agent has; all tools of its type if omitted. */
  readonly tools?: readonly string[] | undefined;
  /** The sandbox of its commands, hooks and servers; undefined if they run as its user. */
  readonly sandbox?: AgentSandbox | undefined;
  readonly resources?: Pick<AgentResources, "tools" | "memory" | "skills" | "readDirs">;
  /** The agent types; the built-in ones if omitted. */
  readonly types?: readonly AgentType[];
  /** Called after each successful edit of a file. */
  readonly onEdit?: ((path: string) => Promise<void>) | undefined;
  /** The project whose notes it uses; its working directory if omitted. */
  readonly notesDirectory?: string;
}

/**
 * Returns an agent's tools except the team tools: those of its type, limited to `tools`, without those that a rule denies
 * as a whole.
 * @param parts `within` names the tools of the parent agent's type: a subagent has no others
 */
export function nonTeamTools(
  type: AgentType,
  {
    tools,
    resources,
    typeTools: within,
  }: Pick<SharedParts, "tools" | "resources"> & Pick<TeamToolContext, "typeTools">,
  notes: Notes | undefined,
  deny: readonly string[],
): readonly AnyTool[] {
  const all = [...builtinTools(), ...(resources?.tools ?? [])];
  const typed = chooseTools(chooseTools(all, { base: type.tools }), { base: within });
  const base = notes === undefined ? typed : withNoteTools(all, typed, notes.directory);
  return chooseTools(base, { only: tools, without: deny });
}

/** Returns the prompt sections of the resources and the sandbox; the list of skills only if the agent has the tool to load them. */
export function resourceSections(
  { resources, sandbox }: Pick<SharedParts, "resources" | "sandbox">,
  tools: readonly string[],
): string[] {
  const { memory = "", skills = "" } = resources ?? {};
  const limits = tools.includes("Bash") ? (sandbox?.description ?? "") : "";
  return [memory, tools.includes("Skill") ? skills : "", limits];
}

/** The options that a subagent inherits from its agent. */
type Inherited = Pick<
  AgentOptions,
  "env" | "passSecrets" | "snapshot" | "sessionVariables" | "sandbox" | "hooks" | "permissions"
>;

/**
 * Returns a function that runs subagents, with the agent's permissions and hooks, and their own model and conversation.
 * @param within the tools of the agent's type; undefined for all
 */
export function subagentRunner(
  parts: SharedParts,
  inherited: Inherited,
  within: AgentType["tools"],
): TeamToolContext["subagent"] {
  const { ctx, settings } = parts;
  return async (call, signal) => {
    const id = randomUUID();
    const { agentType } = call;
    const type = agentTypeOrGeneral(agentType, parts.types);
    const notes = notesOf(parts, type, rulesOf(inherited.permissions));
    const permissions = permissionsOf(call, type, notes, inherited.permissions);
    const own = nonTeamTools(type, { ...parts, typeTools: within }, notes, rulesOf(permissions).deny);
    const tools = parts.onEdit === undefined ? own : watchEdits(own, parts.onEdit);
    const names = tools.map(({ name }) => name);
    const model = call.model ?? type.model;
    const run = runSubagent(
      {
        ...inherited,
        id,
        agentType,
        prompt: call.prompt,
        model: await parts.modelFor(agentType, model === "inherit" ? undefined : model, call.background),
        tools,
        system: composeSystem({
          agentType: type,
          tools: names,
          ...environmentFacts(ctx),
          worksFor: "agent",
          mode: permissions.mode(),
          append: [...resourceSections(parts, names), notes?.section ?? "", SUBAGENT_SECTION],
        }),
        transcript: openTranscript(transcriptPath(ctx.home.root, id), {
          sessionId: id,
          secrets: secretsOf(ctx.env),
        }),
        cwd: ctx.cwd,
        permissions,
        onEvent: (event) => parts.worker.onSubagentEvent({ id, what: call.description }, event),
        ...(call.background ? {} : { betweenTools: () => parts.worker.betweenTools("subagent") }),
        beforeCall: (aborted) => parts.worker.budget.beforeCall(aborted),
        maxContinuations: settings().teams.hooks.maxContinuations,
        clock: ctx.clock,
      },
      signal,
    );
    const facts = newAgentFacts(ctx.home.root, type, { model: call.model, tools: parts.tools, within });
    return recorded(run, parts, { agentId: id, agentType, parentSessionId: parts.sessionId }, facts);
  };
}

/** Records the start and the end of a subagent in the team's event log. */
async function recorded(
  run: Promise<SubagentResult>,
  { worker }: SharedParts,
  subject: EventSubject,
  created: EventFacts,
): Promise<SubagentResult> {
  worker.recordSubagent(subject, created);
  worker.recordSubagent(subject, { type: "agent", what: "started" });
  let how: string = "failed";
  try {
    const result = await run;
    how = result.outcome;
    return result;
  } finally {
    worker.recordSubagent(subject, { type: "agent", what: "ended", how });
  }
}

function notesOf(
  { ctx, worker, notesDirectory = ctx.cwd }: SharedParts,
  type: AgentType,
  rules: PermissionRules,
): Notes | undefined {
  const isDenied = readDenialsOf(ctx, rules, type.disallowedTools ?? []);
  const notes = openNotes(type, ctx.home.root, notesDirectory, isDenied);
  if (notes === undefined || "directory" in notes) return notes;
  worker.onEvent({ type: "subagent", what: type.name, action: notes.problem });
  return undefined;
}

/** Returns the agent's permissions plus the rules of the call and its type, in a mode that allows no more than the agent's. */
function permissionsOf(
  { description, mode, allowedTools = [], disallowedTools = [] }: SubagentCall,
  type: AgentType,
  notes: Notes | undefined,
  own: AgentPermissions,
): AgentPermissions {
  const { notes: _agents, ...rest } = own;
  return {
    ...rest,
    ...(notes === undefined ? {} : { notes: notes.directory }),
    mode: () => (mode === undefined || exceedsMode(mode, own.mode()) ? own.mode() : mode),
    ask: (request, signal) => own.ask({ ...request, subagentTask: description }, signal),
    rules: () => {
      const rules = rulesOf(own);
      return {
        ...rules,
        allow: [...rules.allow, ...allowedTools],
        deny: [...rules.deny, ...(type.disallowedTools ?? []), ...disallowedTools],
      };
    },
  };
}

function rulesOf({ rules }: AgentPermissions): PermissionRules {
  return typeof rules === "function" ? rules() : rules;
}
