import { isAbsolute, join } from "node:path";
import type { ToolAccess } from "../tool.ts";
import { hostPattern } from "./host-rules.ts";
import { isInside } from "./protected-paths.ts";
import type { RedirectedFile, ShellLine } from "./shell-line.ts";

interface SuggestionFor {
  readonly tool: string;
  readonly access: ToolAccess;
  readonly line?: ShellLine | undefined;
  readonly workingDirs: readonly string[];
  readonly home?: string | undefined;
}

/**
 * The rules that a person's “always” to this call makes: for what it touches and nothing more, since no pattern is guessed from one
 * call. None where no rule could allow it.
 */
export function suggestRules({ tool, access, line, workingDirs, home }: SuggestionFor): readonly string[] {
  switch (access.kind) {
    case "team":
      return [];
    case "read":
    case "write":
      return fileRules(access.paths.map((path) => ({ kind: access.kind, path })));
    case "command": {
      if (line === undefined || line.unclear !== undefined) return [];
      const commands = line.commands.map((words) => `${tool}(${words.map(literal).join(" ")})`);
      if (line.commands.flat().some((word) => word.includes("\n"))) return [];
      const files = line.files
        .map(({ kind, path }) => ({ kind, path: absolute(path, workingDirs[0], home) }))
        .filter(({ path }) => !workingDirs.some((directory) => isInside(path, directory)));
      return [...new Set([...commands, ...fileRules(files)])];
    }
    case "host":
      return [`${tool}(${hostPattern(access.host)})`];
    default:
      return [tool];
  }
}

function fileRules(files: readonly RedirectedFile[]): string[] {
  // A pattern cannot name a backslash.
  if (files.some(({ path }) => path.includes("\\"))) return [];
  return files.map(({ kind, path }) => {
    // All punctuation: to a pattern more of it means something than anybody remembers.
    const escaped = path.replace(/[!-,:-@[-^`{-~\s]/g, "\\$&");
    return `${kind === "read" ? "Read" : "Edit"}(/${escaped})`;
  });
}

/** A word of a command as a rule has it that means this word; a blank at a rule's end would be none of it. */
function literal(word: string): string {
  if (word === "") return "''";
  return word.replace(/[^\w@%+=:,./-]/g, (char) => (/\s/.test(char) ? `'${char}'` : `\\${char}`));
}

function absolute(path: string, cwd = "/", home = "/"): string {
  if (path.startsWith("~/")) return join(home, path.slice(2));
  return isAbsolute(path) ? path : join(cwd, path);
}
