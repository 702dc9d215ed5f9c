import { dirname } from "node:path";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import { type IsReadDenied, loadMemory, memorySection } from "../../agent/prompts/memory-files.ts";
import { type SkillPlaces, skillDirectories, skillEntries } from "../../agent/prompts/skill-directories.ts";
import type { AnyTool } from "../../agent/tool.ts";
import type { OperationContext } from "../../operations/context.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { withoutModelCredentials } from "../../os/redact.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import type { McpServer } from "../../schema/mcp-server.ts";
import { mcpConfig } from "../../settings/mcp-servers.ts";
import { skillPart } from "../../settings/project-parts.ts";
import type { LoadedSettings } from "../../settings/settings.ts";
import { confirmationsIn, trustDecision } from "../../settings/trust.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { isServerOutside } from "./agent-sandbox.ts";
import { readDenialsOf } from "./read-denials.ts";

/** The tools and prompt sections that the user and the project provide for every agent (protocol.md section 8). */
export interface AgentResources {
  /** Tools of MCP servers and skills; for an agent whose type has all tools. */
  readonly tools: readonly AnyTool[];
  /** Sections of the system prompt for memory files and skills; undefined without any. */
  readonly memory: string | undefined;
  readonly skills: string | undefined;
  /** Directories of the user's skills, and the skill files. */
  readonly readDirs: readonly string[];
  /** Ends the started MCP servers. */
  close(): Promise<void>;
}

interface ServerOptions {
  /** The sandbox for the programs of the servers. */
  readonly sandbox: Sandbox | undefined;
  /** Servers that a client passes. They replace configured servers of the same name and always run in the sandbox; variables in them are not expanded. */
  readonly clientServers?: Readonly<Record<string, McpServer>> | undefined;
}

/**
 * Reads the memory files and skills, and starts the MCP servers. Reads no file that a rule denies.
 * @param denials deny rules of the agent, in addition to those of its settings
 * @param note reports each resource that is not available, one line with the reason
 */
export async function openAgentResources(
  ctx: Pick<OperationContext, "home" | "ref" | "actor" | "cwd" | "env">,
  settings: LoadedSettings,
  denials: readonly string[],
  note: (line: string) => void,
  options: ServerOptions,
): Promise<AgentResources> {
  const { root } = ctx.home;
  const isReadDenied = readDenialsOf(ctx, settings.permissions, denials);
  const isTrusted = trustDecision(root, ctx.cwd) === true;
  const places = { root, cwd: ctx.cwd, home: homeDirectory(ctx.env) };
  const memory = loadMemory({ ...places, isTrusted }, isReadDenied);
  const { count, problems, section, tools, readDirs } = await openSkills(places, isReadDenied);
  for (const problem of [...memory.problems, ...problems]) note(problem);
  recordEvent(ctx.ref, {
    type: "memory_loaded",
    ...currentEventSubject(ctx.ref, ctx.actor),
    files: memory.files.map(({ path }) => path),
    size: memory.files.reduce((size, { text }) => size + text.length, 0),
    skills: count,
  });
  const servers = await openServers(ctx, settings, note, options);
  return {
    tools: [...tools, ...servers.tools],
    memory: memorySection(memory.files),
    skills: section,
    readDirs,
    close: servers.close,
  };
}

interface FoundSkills {
  readonly count: number;
  readonly problems: readonly string[];
  readonly section: string | undefined;
  readonly tools: readonly AnyTool[];
  readonly readDirs: readonly string[];
}

/** Loads the skill reader only if there are skills, or a problem with them: it includes a YAML parser. */
async function openSkills(places: SkillPlaces, isReadDenied: IsReadDenied): Promise<FoundSkills> {
  const { root, cwd } = places;
  const directories = skillDirectories(places);
  const found = directories.map(skillEntries);
  if (found.every(({ names, problem }) => names.length === 0 && problem === undefined))
    return { count: 0, problems: [], section: undefined, tools: [], readDirs: [] };
  const { loadSkills, skillsSection, skillTool } = await import("../../agent/prompts/skills.ts");
  // The confirmations are read at each use: a person may revoke trust while the agent runs.
  const { skills, problems } = loadSkills(places, isReadDenied, (file, text) =>
    confirmationsIn(root, cwd).isConfirmed(skillPart(file, text)),
  );
  const tools = skills.length === 0 ? [] : [skillTool(skills)];
  // Only the user's skills: a project's are in the working directory, where a symlink created later could make its target readable.
  const own = directories.filter(({ isOwn }) => isOwn);
  const userSkills = skills.filter(({ path }) => own.some((directory) => isInside(path, directory.path)));
  const readDirs = userSkills.flatMap(({ path }) => [dirname(path), path]);
  return { count: skills.length, problems, section: skillsSection(skills), tools, readDirs };
}

async function openServers(
  { home, cwd, env }: Pick<OperationContext, "home" | "cwd" | "env">,
  settings: LoadedSettings,
  note: (line: string) => void,
  { sandbox, clientServers = {} }: ServerOptions,
): Promise<Pick<AgentResources, "tools" | "close">> {
  const { servers: configured, problems } = mcpConfig(home.root, cwd, settings);
  const servers = { ...configured, ...clientServers };
  const isOfClient = (server: string): boolean => Object.hasOwn(clientServers, server);
  for (const problem of problems) note(`MCP servers left out: ${problem}`);
  if (Object.keys(servers).length === 0) return { tools: [], close: () => Promise.resolve() };
  const { connectServers } = await import("../../agent/mcp/servers.ts");
  return connectServers({
    servers,
    cwd,
    env: withoutModelCredentials(env, settings.teams.passSecrets),
    variables: env,
    sandbox,
    isOutside: (server) => !isOfClient(server) && isServerOutside(settings, server),
    isLiteral: isOfClient,
    onSlow: (server, limitMs) =>
      note(`waiting for the MCP server ${server} to start, at most ${limitMs / 1000} s`),
    onFailure: (server, reason) => note(`no tools from the MCP server ${server}: ${reason}`),
    onLeftOut: (server, tool, why) =>
      note(`the tool ${tool} of the MCP server ${server} is left out: ${why}`),
  });
}
