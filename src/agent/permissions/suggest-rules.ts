import { isAbsolute, join } from "node:path";
import type { ToolAccess } from "../tool.ts";
import { hostPattern } from "./host-rules.ts";
import { isOneServerTool } from "./mcp-rules.ts";
import { isInside } from "./protected-paths.ts";
import type { ShellLine } from "./shell-line.ts";
import type { RedirectedFile } from "./syntax/parts.ts";

interface SuggestionFor {
  readonly tool: string;
  readonly access: ToolAccess;
  readonly line?: ShellLine | undefined;
  readonly workingDirs: readonly string[];
  readonly home?: string | undefined;
}

/**
 * Returns the rules that a person's “always” creates: for exactly this call, because one call does not show a pattern. Empty if
 * no rule can allow the call.
 */
export function suggestRules({ tool, access, line, workingDirs, home }: SuggestionFor): readonly string[] {
  switch (access.kind) {
    case "team":
      return access.cli === undefined ? [] : [`${tool}(cli:${access.cli})`];
    case "read":
    case "write":
      // One rule must cover all files of a call.
      return access.paths.length > 1
        ? []
        : fileRules(access.paths.map((path) => ({ kind: access.kind, path })));
    case "command": {
      if (line === undefined || line.unclear !== undefined) return [];
      const commands = line.commands.map((words) => `${tool}(${words.map(literal).join(" ")})`);
      if (line.commands.flat().some((word) => word.includes("\n"))) return [];
      const files = line.files
        .map(({ kind, path }) => ({ kind, path: absolute(path, workingDirs[0], home) }))
        .filter(({ path }) => !workingDirs.some((directory) => isInside(path, directory)));
      const others = fileRules(files);
      return others.length < files.length ? [] : [...new Set([...commands, ...others])];
    }
    case "host":
      // An address may contain a star, which a rule cannot name: it would cover other hosts.
      return access.host.includes("*") ? [] : [`${tool}(${hostPattern(access.host)})`];
    default:
      // Another program may name its call as it likes: a rule for `npm` or `Edit` would cover more than the call.
      return isOneServerTool(tool) ? [tool] : [];
  }
}

/** Returns a rule for each file; none if a rule cannot name one of them. */
function fileRules(files: readonly RedirectedFile[]): string[] {
  // A pattern cannot name a backslash.
  if (files.some(({ path }) => path.includes("\\"))) return [];
  return files.map(({ kind, path }) => {
    // Escape all punctuation, because a glob gives most of it a meaning.
    const escaped = path.replace(/[!-,:-@[-^`{-~\s]/g, "\\$&");
    return `${kind === "read" ? "Read" : "Edit"}(/${escaped})`;
  });
}

/**
 * Quotes a word for a rule that matches exactly this word. Blanks are quoted, because a blank at the end of a rule is dropped; a star
 * is escaped, because a rule knows it in quotes too.
 */
function literal(word: string): string {
  if (word === "" || /^[^'*\\(),]*\s[^'*\\(),]*$/.test(word)) return `'${word}'`;
  return word.replace(/[^\w@%+=:,./-]/g, (char) => (/\s/.test(char) ? `'${char}'` : `\\${char}`));
}

function absolute(path: string, cwd = "/", home = "/"): string {
  if (path.startsWith("~/")) return join(home, path.slice(2));
  return isAbsolute(path) ? path : join(cwd, path);
}
