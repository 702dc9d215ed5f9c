import { dirname, join, resolve } from "node:path";
import { modelFacts, type OwnFacts } from "../../agent/model/catalog.ts";
import type { Model } from "../../agent/model/model.ts";
import { isScripted, namesOfModel, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import type { CommandSandbox } from "../../agent/tool.ts";
import { BUILTIN_TOOL_NAMES } from "../../agent/tools/tool-names.ts";
import { messageOf, systemCode, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { Env } from "../../os/env.ts";
import { readText } from "../../os/files/fs.ts";
import { encodingProblem, isSpecialFile } from "../../os/files/user-files.ts";
import { withoutModelCredentials } from "../../os/redact.ts";
import { sha256 } from "../../protocol/sha256.ts";
import { type Playbook, parsePlaybook } from "../../schema/playbook.ts";
import { NO_TOKENS } from "../../schema/tokens.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { TeamRef } from "../../team/ref.ts";
import { TEAM_TOOL_NAMES } from "../../team-tools/tool-names.ts";
import type { Worker } from "../../worker/worker.ts";
import type { AccountModel } from "./limited-model.ts";
import { withRecording } from "./recording.ts";
import type { SharedParts } from "./subagents.ts";

/** The directory of the package's playbooks, next to the built file. */
export function playbooksDirectory(program: readonly string[]): string {
  return join(dirname(program[1] ?? "."), "playbooks");
}

/** Returns the absolute path of a scripted model's playbook. */
export function playbookFile(model: string, program: readonly string[], cwd: string): string {
  return model === SCRIPTED
    ? join(playbooksDirectory(program), "audit.json")
    : resolve(cwd, model.slice(SCRIPTED.length + 1));
}

/**
 * @param agents must each have a list in the playbook, unless it has a list `*`
 * @throws TeamError INVALID_INPUT if there is no such file, or with the line and field of its first error
 */
export function loadPlaybook(file: string, agents: readonly string[] = []): Playbook {
  const tools = [...BUILTIN_TOOL_NAMES, ...TEAM_TOOL_NAMES];
  return parsePlaybook(playbookText(file), file, { tools, agents });
}

function playbookText(file: string): string {
  let isSpecial: boolean;
  let text: string | undefined;
  try {
    isSpecial = isSpecialFile(file);
    text = isSpecial ? "" : readText(file);
  } catch (error) {
    throw playbookError(unreadableReason(file, error), error);
  }
  // Several processes read the playbook, and a pipe can be read only once.
  if (isSpecial) throw playbookError(`${file} is a pipe or a device; a playbook must be a regular file.`);
  if (text === undefined) throw playbookError(`There is no playbook ${file}.`);
  const encoding = encodingProblem(file, text);
  if (encoding !== undefined) throw playbookError(`The playbook ${file} ${encoding}.`);
  return text;
}

function unreadableReason(file: string, error: unknown): string {
  const code = systemCode(error);
  if (code === "EISDIR") return `${file} is a directory, not a playbook.`;
  if (code === "EACCES" || code === "EPERM") return `You may not read the playbook ${file}.`;
  return `The playbook ${file} cannot be read: ${messageOf(error)}.`;
}

function playbookError(message: string, cause?: unknown): TeamError {
  const hint = "Name a file with --playbook, or omit the option for the built-in playbook.";
  return new TeamError("INVALID_INPUT", message, { hint, cause });
}

interface ModelChoice {
  readonly model: string;
  /** Selects the turns of a playbook. */
  readonly agent: string;
  readonly ref: TeamRef;
  readonly program: readonly string[];
  readonly cwd: string;
  readonly env: Env;
  /** Short names of models that the user's settings add. */
  readonly names: Readonly<Record<string, string>>;
  /** Facts about models from the user's settings. */
  readonly prices: Readonly<Record<string, OwnFacts>>;
  /** Names of secrets that commands may read. */
  readonly passSecrets: readonly string[];
  readonly sandbox: CommandSandbox | undefined;
  /** Tells the user that a turn is not recorded yet. */
  readonly note: (text: string) => void;
}

/** The worker that waits for the limits of its models' account, shows in its pane which model it uses, and runs commands. */
interface LimitedAgent {
  /** The sandbox of its commands. */
  readonly sandbox?: CommandSandbox | undefined;
  readonly worker: Worker;
  readonly note: (text: string) => void;
}

/**
 * Returns a factory for the models of an agent and its subagents. In a recorded run, the models are recorded.
 * @param own the agent's model, and the default for its subagents
 */
export function modelsOf(
  own: string,
  { ref, program, cwd, env }: OperationContext,
  live: LiveSettings,
  limited: LimitedAgent,
): SharedParts["modelFor"] {
  const { models: names, prices, passSecrets } = live().teams;
  return async (agent, model = own, isBackground = false) => {
    const { sandbox, note } = limited;
    const choice = { model, agent, ref, program, cwd, env, names, prices, passSecrets, sandbox, note };
    return withLimits(await createModel(choice), choice, live, { ...limited, isBackground });
  };
}

/** Makes a model of a server wait for its account's limits, or use the fallback models. */
async function withLimits(
  port: Model,
  choice: ModelChoice,
  live: LiveSettings,
  { worker, note, isBackground }: LimitedAgent & { readonly isBackground: boolean },
): Promise<Model> {
  if (isScripted(choice.model)) return port;
  const [{ limitedModel }, { budgetsOf }, wait] = await Promise.all([
    import("./limited-model.ts"),
    import("../../team/members/budget.ts"),
    worker.accountLimit.open(),
  ]);
  const account = accountHash(choice.env);
  const idOf = (model: string): string => resolveModelName(model, choice.names);
  const own: AccountModel = { account, model: idOf(choice.model), port };
  const created = new Map<string, Promise<Model>>();
  const fallback = async (): Promise<readonly AccountModel[]> => {
    const names = live().teams.fallback.filter((name) => !isScripted(name) && idOf(name) !== own.model);
    for (const model of names) if (!created.has(model)) created.set(model, createModel({ ...choice, model }));
    const models = await Promise.all(
      names.map(async (name) => ({ account, model: idOf(name), port: (await created.get(name)) as Model })),
    );
    // Without a price, a limit in dollars would be exceeded unnoticed.
    const needsPrice = budgetsOf(choice.ref, worker.name).some(
      ({ limits }) => limits.maxCostUsd !== undefined,
    );
    return needsPrice ? models.filter((one) => one.port.cost?.(NO_TOKENS) !== undefined) : models;
  };
  const autoResume = (): boolean => live().teams.autoResume;
  return limitedModel({ own, fallback, autoResume, isBackground, wait, note });
}

/** Identifies an account without its key: agents with one key at one server share its limits. */
function accountHash({
  ANTHROPIC_API_KEY: key,
  ANTHROPIC_AUTH_TOKEN: token,
  ANTHROPIC_BASE_URL: url,
}: Env): string {
  return sha256(JSON.stringify(["account", url ?? "", key || token || ""])).slice(0, 24);
}

/** Creates a model, recorded in a recorded run: below the limits of the account, whose waits a replay must not repeat. */
async function createModel(choice: ModelChoice): Promise<Model> {
  return withRecording(await openModel(choice), choice.agent, choice, choice.note);
}

/** Loads only the implementation that is used. */
async function openModel(choice: ModelChoice): Promise<Model> {
  const { model, agent, program, cwd, env, names, prices } = choice;
  if (isScripted(model)) {
    const { scriptedModel } = await import("../../agent/playbook/scripted-model.ts");
    const playbook = loadPlaybook(playbookFile(model, program, cwd));
    return scriptedModel({ playbook, agent, cwd, env: readableEnv(choice), speed: speedOf(env) });
  }
  const { anthropicModel } = await import("../../agent/model/anthropic.ts");
  const id = resolveModelName(model, names);
  return anthropicModel({
    model: id,
    facts: modelFacts(id, prices, namesOfModel(model, id, names)),
    env,
    ...(env.ANTHROPIC_API_KEY ? { apiKey: env.ANTHROPIC_API_KEY } : {}),
    ...(env.ANTHROPIC_AUTH_TOKEN ? { authToken: env.ANTHROPIC_AUTH_TOKEN } : {}),
    ...(env.ANTHROPIC_BASE_URL ? { baseUrl: env.ANTHROPIC_BASE_URL } : {}),
  });
}

/** Returns the variables that a playbook reads: those that its commands may read. */
function readableEnv({ env, passSecrets, sandbox }: ModelChoice): Env {
  const readable = Object.entries(withoutModelCredentials(env, passSecrets));
  return Object.fromEntries(
    readable.filter(([name]) => passSecrets.includes(name) || sandbox?.controls(name) !== true),
  );
}

/** The speed-up of a playbook, for tests. */
function speedOf(env: Env): number {
  const speed = Number(env.TEAMS_PLAYBOOK_SPEED ?? 1);
  return speed > 0 ? speed : 1;
}
