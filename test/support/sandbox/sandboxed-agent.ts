import { mkdirSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, onTestFinished } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import { fileDenial } from "../../../src/agent/permissions/denied-files.ts";
import type { AgentSandbox } from "../../../src/agent/sandbox/agent-sandbox.ts";
import { openSandbox } from "../../../src/agent/sandbox/open-sandbox.ts";
import type { SandboxSetting } from "../../../src/agent/sandbox/settings.ts";
import type { ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { bashTool } from "../../../src/agent/tools/bash.ts";
import { findSandbox } from "../../../src/os/sandbox/find-sandbox.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";

const found = await findSandbox(process.env);
/** Why this machine has no sandbox; undefined if it has one. */
export const noSandbox = "reason" in found ? found.reason : undefined;

/** Describes tests that need a real sandbox. Without one on this machine they are skipped, and the title says why. */
export function describeInSandbox(subject: string, tests: () => void): void {
  const title = noSandbox === undefined ? subject : `${subject} (skipped: ${noSandbox})`;
  describe.skipIf(noSandbox !== undefined)(title, tests);
}

export interface SandboxedAgent {
  /** The home directory, which contains the project. */
  readonly home: string;
  readonly project: string;
  readonly env: Record<string, string | undefined>;
  readonly sandbox: AgentSandbox;
  readonly context: ToolContext;
  /** A test may change this list. */
  readonly workingDirs: string[];
  /** Reported files, relative to the project. */
  readonly newFiles: readonly string[];
  /** Reports about paths that are not UTF-8. */
  readonly unnamed: readonly string[];
  bash(command: string, input?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

interface Options {
  readonly setting?: Partial<SandboxSetting>;
  readonly env?: Readonly<Record<string, string>>;
  /** Working directories besides the project, by their names in the home directory; "" is the home directory. */
  readonly also?: readonly string[];
  /** Deny rules; a test may add to them. */
  readonly deny?: readonly string[];
  /** Returns directories below the home directory's `.claude` that commands see. */
  visible?(home: string): readonly string[];
  /** Prepares files before the sandbox is opened. */
  prepare?(home: string, project: string): void;
}

/** Opens the sandbox of an agent that works in `~/project`, with a private home directory. */
export async function sandboxedAgent(options: Options = {}): Promise<SandboxedAgent> {
  const home = realpathSync(temporaryDirectory());
  const project = join(home, "project");
  const root = join(home, ".claude");
  for (const path of [project, root]) mkdirSync(path);
  options.prepare?.(home, project);
  const env = { PATH: process.env.PATH, HOME: home, ...options.env };
  const workingDirs = [project, ...(options.also ?? []).map((name) => join(home, name))];
  const newFiles: string[] = [];
  const unnamed: string[] = [];
  const opened = await openSandbox({
    setting: { network: "none", write: [], read: [], ...options.setting },
    workingDirs: () => workingDirs,
    roots: [root],
    visible: options.visible?.(home) ?? [],
    denial: (directories) => fileDenial(options.deny ?? [], { workingDirs: directories, home }),
    home,
    env,
    passSecrets: [],
    onNewFiles: (paths) => newFiles.push(...paths.map((path) => relative(project, path))),
    onUnnamed: (line) => unnamed.push(line),
  });
  if ("reason" in opened) throw new Error(opened.reason);
  const background = new BackgroundTasks({ cwd: project, secrets: [] });
  onTestFinished(async () => {
    await background.endAll();
    await opened.close();
  });
  const context: ToolContext = {
    cwd: project,
    env,
    signal: new AbortController().signal,
    seenFiles: new Map(),
    background,
    sandbox: opened,
  };
  const bash = (command: string, input = {}) => bashTool.execute({ command, ...input }, context);
  return { home, project, env, sandbox: opened, context, workingDirs, newFiles, unnamed, bash };
}
