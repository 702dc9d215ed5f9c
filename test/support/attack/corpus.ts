import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { decidePermission } from "../../../src/agent/permissions/decide.ts";
import type { PermissionDecision } from "../../../src/agent/permissions/question.ts";
import type { PermissionRules } from "../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../src/agent/permissions/shell-line.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";

/** A command line of the corpus, with the rules that it is decided under. */
export interface CorpusLine {
  readonly file: string;
  readonly shell: string;
  readonly line: string;
  readonly rules: PermissionRules;
  /** `guarded`: only a person can allow it. */
  readonly expect: "allow" | "ask" | "deny" | "guarded";
  /** The effect of the line if nothing stops it. */
  readonly effect: string;
  /** Files that exist, relative to the working directory or absolute. */
  readonly files: readonly string[];
  /** Resolves the links of the line, and no others. */
  readonly resolve: (path: string) => string;
}

/** The working directory of the lines. */
const PROJECT = "/srv/ada/project";
const DIRECTORY = join(import.meta.dirname, "../../attack/corpus");

/**
 * Reads the corpus. A line `# name: value` applies to all lines after it; `⏎` is a line end. A new `allow` or `deny` line
 * replaces the rules of its kind. `# links: a->b` names links and their targets.
 */
export function readCorpus(): readonly CorpusLine[] {
  return readdirSync(DIRECTORY).flatMap((file) => {
    const header: Record<string, string> = { shell: "bash", effect: "none" };
    return readFileSync(join(DIRECTORY, file), "utf8")
      .split("\n")
      .flatMap((text) => {
        const [, name, value] = /^# (\w+): (.*)$/.exec(text) ?? [];
        if (name !== undefined) header[name] = value ?? "";
        if (text === "" || text.startsWith("# ")) return [];
        const { shell = "", effect = "" } = header;
        const rules = { allow: list(header.allow), ask: list(header.ask), deny: list(header.deny) };
        const line = text.replaceAll("⏎", "\n");
        const [expect, files] = [header.expect as CorpusLine["expect"], list(header.files)];
        const resolve = linkResolver(list(header.links));
        return [{ file, shell, effect, files, resolve, rules, line, expect }];
      });
  });
}

function list(text = ""): string[] {
  return text === "" ? [] : text.split(", ");
}

/** Returns a function that resolves links as the system does: `..` after a link is the parent of its target. */
function linkResolver(links: readonly string[]): (path: string) => string {
  const targets = new Map(
    links.map((link) => {
      const [name = "", target = ""] = link.split("->");
      return [join(PROJECT, name), target];
    }),
  );
  return (path) => {
    const open = path.split("/").reverse();
    let at = "/";
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      const target = targets.get(join(at, part));
      if (target === undefined) at = join(at, part);
      else {
        if (target.startsWith("/")) at = "/";
        open.push(...target.split("/").reverse());
      }
    }
    return at;
  };
}

/** Returns a path and all its parent directories except the root. */
function pathsAbove(path: string): string[] {
  return path === "/" ? [] : [path, ...pathsAbove(dirname(path))];
}

/** Decides a line in a directory without a repository; by default, without links. */
export function decideLine(
  line: string,
  rules: PermissionRules,
  cwd = PROJECT,
  mode: PermissionMode = "default",
  resolve = (path: string): string => path,
  files: readonly string[] = [],
): PermissionDecision {
  const paths = files.flatMap((file) => pathsAbove(isAbsolute(file) ? file : join(cwd, file)));
  return decidePermission({
    mode,
    tool: "Bash",
    access: { kind: "command", command: line },
    line: readShellLine(line),
    rules,
    workingDirs: [cwd],
    home: "/srv/ada",
    protectedDirs: ["/srv/ada/.claude"],
    resolve,
    exists: (path) => paths.includes(path),
    list: (directory) =>
      paths.flatMap((path) => (relative(directory, dirname(path)) === "" ? [basename(path)] : [])),
    isPlain: () => true,
    gitDirs: () => [],
    localRemotes: () => [],
  });
}
