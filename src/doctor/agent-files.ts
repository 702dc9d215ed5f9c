import { loadMemory } from "../agent/prompts/memory-files.ts";
import { loadSkills } from "../agent/prompts/skills.ts";
import type { Env } from "../os/env.ts";
import { homeDirectory } from "../os/files/app-directories.ts";
import { mcpConfig } from "../settings/mcp-servers.ts";
import { skillPart } from "../settings/project-parts.ts";
import { confirmationsIn } from "../settings/trust.ts";
import { type Finding, warn } from "./finding.ts";
import { readableSettings } from "./readable-settings.ts";

/**
 * Reads the files that agents in this directory would read besides the settings. Warns about each file or part that they ignore.
 * @param typeProblems the unusable agent types
 */
export function agentFileFindings(
  root: string,
  cwd: string,
  env: Env,
  typeProblems: readonly string[],
): readonly Finding[] {
  const { decision, isConfirmed } = confirmationsIn(root, cwd);
  const place = { root, cwd, home: homeDirectory(env), isTrusted: decision === true };
  const memory = loadMemory(place, () => false);
  const skills = loadSkills(
    place,
    () => false,
    (file, text) => isConfirmed(skillPart(file, text)),
  );
  const mcpServers = readableSettings(root, cwd)?.mcpServers ?? {};
  const servers = mcpConfig(root, cwd, { mcpServers });
  return [
    ...typeProblems.map((text) => unusable("agent types", text)),
    ...skills.problems.map((text) => unusable("skills", text)),
    ...memory.problems.map((text) => unusable("memory files", text)),
    ...servers.problems.map((text) => unusable("MCP servers", text)),
  ];
}

function unusable(name: string, text: string): Finding {
  return warn(name, `not used by agents: ${text}`, "Correct it, or remove it.");
}
