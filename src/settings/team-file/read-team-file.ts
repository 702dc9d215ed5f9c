import { dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import { isSystemError, TeamError } from "../../errors.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import {
  type DeclaredMember,
  type DeclaredTeam,
  type FieldProblem,
  type PlaceOf,
  teamFileError,
} from "../../operations/up/declared-team.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import { defined } from "../../schema/defined.ts";
import { newAgentName, sameName, teamDir } from "../../schema/names.ts";
import { dollarAmount, tokenAmount } from "../../text/amounts.ts";
import { declaredTasks, metadataProblems } from "./declared-tasks.ts";
import { readSource, type TeamSource } from "./source.ts";

/** A declared team, and the files that it was read from, included ones first. */
export interface TeamFile {
  readonly team: DeclaredTeam;
  readonly sources: readonly TeamSource[];
}

interface ReadOptions {
  readonly cwd: string;
  readonly env: Env;
  /** Replaces the name in the file. */
  readonly name?: string | undefined;
  /** Replaces every model of our own agents. */
  readonly model?: string | undefined;
}

/**
 * Reads a team file with the files that it includes, and checks everything that needs no team: all mistakes are reported at once,
 * each with its file, line and field.
 * @throws TeamError INVALID_INPUT, and PERMISSION_DENIED for a file that the system does not let teams read
 */
export function readTeamFile(given: string, options: ReadOptions): TeamFile {
  const problems: FieldProblem[] = [];
  const sources = new SourceReader(options.env, problems).read(given, options.cwd);
  const root = sources.at(-1);
  if (root === undefined || problems.length > 0) throw teamFileError(given, problems);
  const team = declaredTeam(root, sources, options, problems);
  if (problems.length > 0) throw teamFileError(given, problems);
  return { team, sources };
}

/** Maximum number of files: more than any team needs. */
const MAX_FILES = 100;

class SourceReader {
  readonly #env: Env;
  readonly #problems: FieldProblem[];
  readonly #known = new Set<string>();

  constructor(env: Env, problems: FieldProblem[]) {
    this.#env = env;
    this.#problems = problems;
  }

  read(given: string, cwd: string): TeamSource[] {
    const path = resolvedPath(resolve(cwd, given));
    return this.#read(path, given, []);
  }

  /** @param outer the files that include this one, outermost first */
  #read(path: string, shown: string, outer: readonly string[]): TeamSource[] {
    this.#known.add(path);
    const { source, problems } = readSource(path, shown, this.#env);
    this.#problems.push(...problems);
    if (source === undefined) return [];
    const { include = [] } = source.content;
    const included = [include].flat().flatMap((name, i) => {
      const place = source.at(typeof include === "string" ? ["include"] : ["include", i]);
      const report = (message: string): [] => {
        this.#problems.push({ ...place, message });
        return [];
      };
      const isOwnPath = isAbsolute(name) || name.startsWith("~/");
      const next = resolvedPath(absolutePath(name, dirname(path), this.#env));
      if (!isOwnPath && !isInside(next, projectOf(path)))
        return report(`${name} is outside the project; write its absolute path`);
      if (next === path || outer.includes(next)) return report(`${name} includes this file again`);
      if (this.#known.has(next)) return [];
      if (this.#known.size >= MAX_FILES) return report(`there are more than ${MAX_FILES} files`);
      return this.#read(next, isOwnPath ? name : join(dirname(shown), name), [...outer, path]);
    });
    return [...included, source];
  }
}

/** Returns the real path of a file; the given path if it cannot be resolved, so that reading it reports the error. */
function resolvedPath(path: string): string {
  try {
    return realPathOf(path);
  } catch (error) {
    if (isSystemError(error)) return path;
    throw error;
  }
}

function absolutePath(path: string, directory: string, env: Env): string {
  return path === "~" || path.startsWith("~/")
    ? resolve(join(homeDirectory(env), path.slice(1)))
    : resolve(directory, path);
}

/** Returns the top of the worktree of a file; outside a repository its directory. */
export function projectOf(path: string): string {
  const directory = dirname(path);
  return gitDirectoriesOf(directory)?.top ?? directory;
}

function declaredTeam(
  root: TeamSource,
  sources: readonly TeamSource[],
  { env, name: givenName, model: givenModel }: ReadOptions,
  problems: FieldProblem[],
): DeclaredTeam {
  const merged = defined(
    Object.assign({}, ...sources.map(({ content }) => defined(content))),
  ) as typeof root.content;
  const { description, permissionMode, lead } = merged;
  const holder = (field: keyof typeof merged): TeamSource =>
    sources.findLast(({ content }) => content[field] !== undefined) ?? root;
  const name = givenName ?? merged.name ?? "";
  if (name === "") problems.push({ ...root.at(["name"]), field: "name", message: "is missing" });
  else if (givenName !== undefined) teamDir(name);
  else check(problems, holder("name").at(["name"]), () => teamDir(name));
  const directory = dirname(root.path);
  const members = sources.flatMap((source) => membersOf(source, { directory, env, givenModel }, problems));
  for (const [i, member] of members.entries())
    if (members.slice(0, i).some((other) => sameName(other.name, member.name)))
      problems.push({
        ...member.at("name"),
        message: `there are two members ${JSON.stringify(member.name)}`,
      });
  const leadSource = holder("lead");
  return defined({
    file: root.shown,
    directory,
    name,
    description,
    model: withFile(givenModel ?? merged.model, holder("model"), env),
    permissionMode,
    budget: budgetOf(merged, (field) => holder(field).at([field]), problems),
    members,
    tasks: declaredTasks(sources, members, problems),
    lead: lead && {
      ...defined(lead),
      ...modelOf(lead, { givenModel, env }, leadSource),
      at: (field?: string) => leadSource.at(["lead", ...(field === undefined ? [] : [field])]),
    },
    at: (field: string) => holder(field as keyof typeof merged).at([field]),
  }) as DeclaredTeam;
}

function membersOf(
  source: TeamSource,
  {
    directory,
    env,
    givenModel,
  }: { readonly directory: string; readonly env: Env; readonly givenModel: string | undefined },
  problems: FieldProblem[],
): DeclaredMember[] {
  return (source.content.members ?? []).map(({ maxTokens, maxCost, cwd, ...member }, i) => {
    const at: PlaceOf = (field) => source.at(["members", i, ...(field === undefined ? [] : [field])]);
    check(problems, at("name"), () => newAgentName(member.name));
    problems.push(...metadataProblems(member.metadata, at));
    return {
      ...defined(member),
      ...modelOf(member, { givenModel, env }, source),
      budget: budgetOf(defined({ maxTokens, maxCost }), at, problems),
      cwd: cwd === undefined ? directory : absolutePath(cwd, dirname(source.path), env),
      at,
    };
  });
}

/** The models of a third-party CLI are its own. */
function modelOf(
  { model, cli }: { readonly model?: string | undefined; readonly cli?: string | undefined },
  { givenModel, env }: { readonly givenModel: string | undefined; readonly env: Env },
  source: TeamSource,
): { readonly model?: string } {
  return defined({ model: withFile(cli === undefined ? (givenModel ?? model) : model, source, env) });
}

const PLAYBOOK = "scripted:";

/** Makes the path of a playbook absolute: a member may work in another directory. */
function withFile(model: string | undefined, { path }: TeamSource, env: Env): string | undefined {
  return model?.startsWith(PLAYBOOK)
    ? `${PLAYBOOK}${absolutePath(model.slice(PLAYBOOK.length), dirname(path), env)}`
    : model;
}

type Amount = string | number | undefined;

function budgetOf(
  { maxTokens, maxCost }: { readonly maxTokens?: Amount; readonly maxCost?: Amount },
  at: (field: "maxTokens" | "maxCost") => FieldProblem | ReturnType<PlaceOf>,
  problems: FieldProblem[],
): BudgetLimits {
  const tokens = typeof maxTokens === "string" ? tokenAmount(maxTokens) : maxTokens;
  const dollars = typeof maxCost === "string" ? dollarAmount(maxCost) : maxCost;
  if (maxTokens !== undefined && tokens === undefined)
    problems.push({ ...at("maxTokens"), message: "must be a whole number above zero" });
  if (maxCost !== undefined && dollars === undefined)
    problems.push({ ...at("maxCost"), message: "must be a number above zero" });
  return defined({ maxTokens: tokens, maxCostUsd: dollars });
}

function check(problems: FieldProblem[], place: ReturnType<PlaceOf>, run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    problems.push({ ...place, message: error.message.replace(/\.$/, "") });
  }
}
