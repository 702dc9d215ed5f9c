import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { ConnectProxy } from "../../os/net/connect-proxy.ts";
import { run } from "../../os/process/run.ts";
import { bubblewrapArgs } from "../../os/sandbox/bubblewrap.ts";
import type { NoSandbox, SandboxTool } from "../../os/sandbox/find-sandbox.ts";
import type { Program } from "../../os/sandbox/sandbox.ts";
import { seatbeltArgs } from "../../os/sandbox/seatbelt.ts";
import { INNER_PROXY_PORT, SharedNetwork } from "../../os/sandbox/shared-network.ts";
import type { SandboxPlace, SandboxView } from "../../os/sandbox/view.ts";
import { isInside } from "../permissions/protected-paths.ts";
import type { CommandSandbox } from "../tool.ts";
import { sandboxEnvironment, splitEnvironment } from "./environment.ts";
import { commandFiles } from "./git-places.ts";
import { type PlacesOptions, sandboxPlaces } from "./places.ts";
import type { PrivateDirectory } from "./private-directory.ts";
import { ProtectedFiles } from "./protected-places.ts";
import type { SandboxSetting } from "./settings.ts";

export interface SandboxOptions extends Pick<PlacesOptions, "roots" | "visible" | "home" | "env"> {
  readonly setting: Pick<SandboxSetting, "network" | "write" | "read">;
  /** The working directories of the agent; they can change while it runs. */
  readonly workingDirs: () => readonly string[];
  /** Names of secret variables that commands may have. */
  readonly passSecrets: readonly string[];
  /** Called with new files from which other programs run commands: a command could create them, but not change others. */
  readonly onNewFiles?: (paths: readonly string[]) => void;
}

/** The opened parts of a sandbox. */
interface SandboxParts extends SandboxOptions {
  readonly tool: SandboxTool;
  readonly files: PrivateDirectory;
  readonly proxy: ConnectProxy | undefined;
  readonly token: string | undefined;
}

const TEST_PROGRAM: Program = { file: "/bin/sh", args: ["-c", ":"], env: {} };
const TEST_TIMEOUT_MS = 10_000;

/** The sandbox of one agent, in which its commands share a temporary directory and a network. */
export class AgentSandbox implements CommandSandbox {
  readonly #parts: SandboxParts;
  #shared: SharedNetwork | undefined;
  readonly #protected: ProtectedFiles;
  /** Files that were there before the first command, or that were reported. */
  readonly #reported = new Set<string>();
  /** By writable directory: its real path when it was first used. */
  readonly #firstPlaces = new Map<string, string>();
  #nested: Promise<readonly string[]>;
  #isSearching = false;
  /** A command has ended since the search began. */
  #isStale = false;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    const { tool, setting, env, files, proxy } = parts;
    const { nsenter } = tool;
    if (setting.network !== "allow" && tool.kind === "bubblewrap" && nsenter !== undefined) {
      const proxySocket = proxy === undefined ? undefined : files.proxySocket;
      this.#shared = new SharedNetwork({ tool: { ...tool, nsenter }, env, proxySocket });
    }
    this.#protected = new ProtectedFiles(parts.roots);
    this.#nested = this.#search();
    this.#nested.then(
      (found) => {
        for (const path of found) this.#reported.add(path);
      },
      // A command that needs the result gets the error.
      () => undefined,
    );
  }

  get description(): string {
    const { setting, workingDirs } = this.#parts;
    const { network, write } = setting;
    const reach = Array.isArray(network)
      ? `Through the proxy of the environment they reach only ${network.join(", ") || "no host"}.`
      : network === "none"
        ? "They have no network, but reach each other on localhost."
        : "They may use the network.";
    return [
      "# Sandbox",
      `Your commands run in a sandbox. They can write only below ${[...workingDirs(), ...write].join(", ")} and in /tmp, which only your commands see. Files from which other programs run commands (git's config and hooks, .claude, editors' settings) are read-only there; keys and logins are hidden. ${reach} Processes that a command leaves behind end with it: use run_in_background.`,
      "If the sandbox prevents a command that the work needs, call Bash again with dangerouslyDisableSandbox: the user is asked. Do not look for a way around it.",
    ].join("\n");
  }

  /**
   * Runs a program inside as a test. If this machine's processes cannot enter a network, each command gets its own.
   * @returns why this machine has no such sandbox: a list of hosts needs the network
   * @throws Error if a program cannot run inside for another reason, such as a file of the project
   */
  async check(): Promise<NoSandbox | undefined> {
    const problem =
      this.#shared === undefined ? undefined : await this.#problemWith(() => this.#enterNetwork());
    if (problem !== undefined) {
      if (this.#parts.proxy !== undefined) {
        const remedy =
          "Set teams.sandbox.network to none or allow, or allow nsenter (setns) in this container.";
        return { reason: `a process cannot enter the network of the sandbox (${problem})`, remedy };
      }
      await this.#shared?.close();
      this.#shared = undefined;
    }
    const [cwd = "/"] = this.#parts.workingDirs();
    const failure = await this.#problemWith(() => this.wrap(TEST_PROGRAM, cwd));
    if (failure !== undefined) throw new Error(failure);
    return undefined;
  }

  async #enterNetwork(): Promise<Program> {
    const [file = "", ...args] = (await this.#shared?.entry()) ?? [];
    return { ...TEST_PROGRAM, file, args: [...args, TEST_PROGRAM.file, ...TEST_PROGRAM.args] };
  }

  /** Runs a program. @returns why it failed */
  async #problemWith(program: () => Promise<Program>): Promise<string | undefined> {
    try {
      const { file, args } = await program();
      const env = { PATH: this.#parts.env.PATH };
      const { code, stderr } = await run(file, args, { env, cwd: "/", timeoutMs: TEST_TIMEOUT_MS });
      return code === 0 ? undefined : stderr.trim() || `it ended with ${code ?? "a signal"}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  async wrap({ file, args, env, keeps = [] }: Program, directory: string): Promise<Program> {
    const { tool, files, passSecrets, setting } = this.#parts;
    const places = await this.#places();
    // A link in /tmp is not there inside.
    const cwd = realPathOf(directory);
    const inner = sandboxEnvironment(env, {
      temporary: tool.kind === "bubblewrap" ? "/tmp" : files.tmp,
      proxy: this.#proxyUrl(),
      passed: [...passSecrets, ...keeps],
      isWritable: (path) => isWritable(path, places),
    });
    const { outer, inner: loading } = splitEnvironment(inner);
    const words = [file, ...args];
    const view: SandboxView = { places, emptyFile: files.emptyFile, network: this.#network(setting.network) };
    if (tool.kind === "seatbelt") return { file: tool.file, args: seatbeltArgs(view, words), env: outer };
    const entry = (await this.#shared?.entry()) ?? [];
    const [first = tool.file, ...rest] = [...entry, tool.file];
    return {
      file: first,
      args: [...rest, ...bubblewrapArgs(view, { cwd, env: loading, words })],
      env: outer,
    };
  }

  refresh(): void {
    this.#isStale = true;
    if (this.#isSearching) return;
    this.#isStale = false;
    // A command that starts during the search uses the result of the search before.
    const search = this.#search().then((found) => {
      const news = found.filter((path) => !this.#reported.has(path));
      for (const path of news) this.#reported.add(path);
      if (news.length > 0) this.#parts.onNewFiles?.(news);
      return found;
    });
    search.then(
      () => {
        this.#nested = search;
        if (this.#isStale) this.refresh();
      },
      // The result of the search before stays in force.
      () => undefined,
    );
  }

  readonly close = async (): Promise<void> => {
    this.#parts.proxy?.close();
    await this.#shared?.close();
    this.#parts.files.remove();
  };

  #network(setting: SandboxSetting["network"]): SandboxView["network"] {
    const { proxy } = this.#parts;
    if (setting === "allow") return "all";
    if (proxy?.port !== undefined) return { proxyPort: proxy.port };
    return this.#shared === undefined ? "own" : "joined";
  }

  #proxyUrl(): string | undefined {
    const { proxy, token } = this.#parts;
    if (proxy === undefined) return undefined;
    return token === undefined
      ? `http://127.0.0.1:${INNER_PROXY_PORT}`
      : `http://teams:${token}@127.0.0.1:${proxy.port}`;
  }

  async #places(): Promise<readonly SandboxPlace[]> {
    const { tool, files, setting, home } = this.#parts;
    const workingDirs = this.#parts.workingDirs().map((directory) => this.#pinned(directory));
    for (const directory of workingDirs) this.#reported.add(reserveSettings(directory));
    const temporary = tool.kind === "bubblewrap" ? files : undefined;
    const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, home);
    const places = sandboxPlaces({
      ...this.#parts,
      workingDirs,
      write: setting.write.map((path) => this.#pinned(fromHome(path))),
      read: setting.read.map(fromHome),
      protectedFiles: this.#protected,
      nested: await this.#nested,
      temporary,
    });
    // Seatbelt replaces no directory: commands get another one for temporary files.
    return temporary === undefined
      ? [...places, { path: files.tmp, access: "write", isDirectory: true }]
      : places;
  }

  /**
   * Returns where a writable directory led at first. A command of another agent could replace it by a link to anywhere.
   * @throws Error if it leads elsewhere now
   */
  #pinned(directory: string): string {
    const real = realPathOf(directory);
    const first = this.#firstPlaces.get(directory) ?? real;
    this.#firstPlaces.set(directory, first);
    if (first === real) return real;
    throw new Error(`${directory} leads to ${real} now, and led to ${first} when the agent began`);
  }

  async #search(): Promise<readonly string[]> {
    this.#isSearching = true;
    try {
      const directories = this.#parts.workingDirs().map(realPathOf);
      const found = await Promise.all(directories.map((directory) => this.#protected.below(directory)));
      return found.flatMap(({ paths, repositories }) => [...paths, ...repositories.flatMap(commandFiles)]);
    } finally {
      this.#isSearching = false;
    }
  }
}

function isWritable(path: string, places: readonly SandboxPlace[]): boolean {
  return places.findLast((place) => isInside(path, place.path))?.access === "write";
}

/**
 * Creates the directory of a project's settings, empty, because a sandbox can protect only what exists: a command could
 * otherwise create settings that running agents follow at once. git does not see an empty directory.
 * @returns the directory
 */
function reserveSettings(directory: string): string {
  const settings = join(directory, ".claude");
  if (entryOf(settings) !== undefined || entryOf(directory) === undefined) return settings;
  try {
    ensureDir(settings);
  } catch {
    // Where this process cannot create it, no command can.
  }
  return settings;
}
