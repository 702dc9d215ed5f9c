import { dirname } from "node:path";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import { type IsReadDenied, loadMemory, memorySection } from "../../agent/prompts/memory-files.ts";
import { skillDirectories } from "../../agent/prompts/skill-directories.ts";
import type { AnyTool } from "../../agent/tool.ts";
import type { OperationContext } from "../../operations/context.ts";
import { listDir } from "../../os/files/fs.ts";
import { withoutModelCredentials } from "../../os/redact.ts";
import { mcpConfig } from "../../settings/mcp-servers.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { readDenialsOf } from "./read-denials.ts";

/** What the user and the project give to every agent that begins here (protocol.md section 8). */
export interface AgentResources {
  /** Those of MCP servers and skills; for an agent whose type has all tools. */
  readonly tools: readonly AnyTool[];
  /** Sections of the system prompt: the memory files, the list of skills; undefined where there are none. */
  readonly memory: string | undefined;
  readonly skills: string | undefined;
  /** Where the user's skills lie, with what they name beside them. */
  readonly readDirs: readonly string[];
  /** Ends the programs that were started. */
  close(): Promise<void>;
}

/**
 * Reads the memory files and skills, and starts the servers of tools. Of files, none that a rule keeps from being read.
 * @param never rules of its own for what it may not do, beside those of its settings
 * @param tell says, one line for each, what cannot be had and why
 */
export async function openSurroundings(
  ctx: Pick<OperationContext, "home" | "ref" | "actor" | "cwd" | "env">,
  settings: Settings,
  never: readonly string[],
  tell: (line: string) => void,
): Promise<AgentResources> {
  const { root } = ctx.home;
  const keptBack = readDenialsOf(ctx, settings.permissions, never);
  const memory = loadMemory({ root, cwd: ctx.cwd, home: ctx.env.HOME }, keptBack);
  const { count, flaws, section, tools, readDirs } = await openSkills(root, ctx.cwd, keptBack);
  for (const flaw of [...memory.flaws, ...flaws]) tell(flaw);
  recordEvent(ctx.ref, {
    type: "memory_loaded",
    ...currentEventSubject(ctx.ref, ctx.actor),
    files: memory.files.map(({ path }) => path),
    size: memory.files.reduce((size, { text }) => size + text.length, 0),
    skills: count,
  });
  const servers = await openServers(ctx, settings, tell);
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
  readonly flaws: readonly string[];
  readonly section: string | undefined;
  readonly tools: readonly AnyTool[];
  readonly readDirs: readonly string[];
}

/** Their reader is loaded where there are any: it knows all of YAML, which is much for who has none. */
async function openSkills(root: string, cwd: string, keptBack: IsReadDenied): Promise<FoundSkills> {
  const isNone = skillDirectories(root, cwd).every((directory) => listDir(directory).length === 0);
  if (isNone) return { count: 0, flaws: [], section: undefined, tools: [], readDirs: [] };
  const { loadSkills, skillsSection, skillTool } = await import("../../agent/prompts/skills.ts");
  const { skills, flaws } = loadSkills(root, cwd, keptBack);
  const tools = skills.length === 0 ? [] : [skillTool(skills)];
  // A project's lie where it is worked; a link that comes there later must lead to nothing that may be read.
  const [own] = skillDirectories(root, cwd);
  const ofOwn = skills.filter(({ path }) => isInside(path, own));
  const readDirs = ofOwn.flatMap(({ path }) => [dirname(path), path]);
  return { count: skills.length, flaws, section: skillsSection(skills), tools, readDirs };
}

async function openServers(
  { home, cwd, env }: Pick<OperationContext, "home" | "cwd" | "env">,
  settings: Settings,
  tell: (line: string) => void,
): Promise<Pick<AgentResources, "tools" | "close">> {
  const { servers, flaws } = mcpConfig(home.root, cwd, settings);
  for (const flaw of flaws) tell(`no tools from it: ${flaw}`);
  if (Object.keys(servers).length === 0) return { tools: [], close: () => Promise.resolve() };
  const { connectServers } = await import("../../agent/mcp/servers.ts");
  return connectServers({
    servers,
    cwd,
    env: withoutModelCredentials(env, settings.teams.passSecrets),
    variables: env,
    onFailure: (server, reason) => tell(`no tools from the MCP server ${server}: ${reason}`),
    onLeftOut: (server, tool, why) =>
      tell(`the tool ${tool} of the MCP server ${server} is left out: ${why}`),
  });
}
