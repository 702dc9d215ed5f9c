import { messageOf } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { ConnectProxy } from "../../os/net/connect-proxy.ts";
import { run } from "../../os/process/run.ts";
import { bubblewrapArgs } from "../../os/sandbox/bubblewrap.ts";
import type { NoSandbox, SandboxTool } from "../../os/sandbox/find-sandbox.ts";
import { Prewarmer } from "../../os/sandbox/prewarmer.ts";
import type { Program, WrappedProgram } from "../../os/sandbox/sandbox.ts";
import { seatbeltArgs } from "../../os/sandbox/seatbelt.ts";
import { INNER_PROXY_PORT, SharedNetwork } from "../../os/sandbox/shared-network.ts";
import type { SandboxPlace, SandboxView } from "../../os/sandbox/view.ts";
import { isInside } from "../permissions/protected-paths.ts";
import type { CommandSandbox } from "../tool.ts";
import { CurrentPlaces, type CurrentPlacesOptions } from "./current-places.ts";
import { isControlledInside, sandboxEnvironment, splitEnvironment } from "./environment.ts";
import type { PrivateDirectory } from "./private-directory.ts";
import type { SandboxSetting } from "./settings.ts";

export interface SandboxOptions extends Omit<CurrentPlacesOptions, "write" | "read" | "temporary"> {
  readonly setting: Pick<SandboxSetting, "network" | "write" | "read">;
  /** Names of secret variables that commands may have. */
  readonly passSecrets: readonly string[];
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
  readonly #places: CurrentPlaces;
  /** Undefined for Seatbelt, which needs no setup. */
  readonly #prewarmer: Prewarmer | undefined;
  #shared: SharedNetwork | undefined;
  /** Resolves when the setup of the next command's sandbox has begun. */
  #prewarming: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    const { tool, setting, env, files, proxy } = parts;
    const { nsenter } = tool;
    if (setting.network !== "allow" && tool.kind === "bubblewrap" && nsenter !== undefined) {
      const proxySocket = proxy === undefined ? undefined : files.proxySocket;
      this.#shared = new SharedNetwork({ tool: { ...tool, nsenter }, env, proxySocket });
    }
    const temporary = tool.kind === "bubblewrap" ? files : undefined;
    this.#prewarmer = tool.kind === "bubblewrap" ? new Prewarmer(env) : undefined;
    this.#places = new CurrentPlaces({ ...parts, ...setting, temporary });
  }

  get description(): string {
    const { setting, workingDirs } = this.#parts;
    const { network, write } = setting;
    const reach = Array.isArray(network)
      ? `They reach only ${network.join(", ") || "no host"}, through the proxy that the environment names.`
      : network === "none"
        ? "They have no network, but can reach each other on localhost."
        : "They may use the network.";
    return [
      "# Sandbox",
      `Your commands run in a sandbox. They can write only below ${[...workingDirs(), ...write].join(", ")} and in /tmp, which only your commands see. Files from which other programs run commands (git's config and hooks, .claude, editors' settings) are read-only there; keys and logins are hidden. ${reach} A command's background processes end with the command: use run_in_background instead.`,
      "If the sandbox prevents a command that the work needs, call Bash again with dangerouslyDisableSandbox: the user is asked. Do not try to work around the sandbox.",
    ].join("\n");
  }

  /**
   * Runs a program in the sandbox as a test. If this machine's processes cannot enter a shared network, each command gets its own.
   * @returns why this machine has no such sandbox: a list of hosts needs the shared network
   * @throws Error if a program cannot run in the sandbox for another reason, such as a file of the project
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
      return code === 0 ? undefined : stderr.trim() || `a test program exited with ${code ?? "a signal"}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  async wrap(
    { file, args, env, keeps = [], writes = [] }: Program,
    directory: string,
  ): Promise<WrappedProgram> {
    const { tool, files, passSecrets, setting } = this.#parts;
    await this.#prewarming;
    const view = await this.#view(writes);
    // Links resolved: a link in /tmp does not exist in the sandbox.
    const cwd = realPathOf(directory);
    const inner = sandboxEnvironment(env, {
      temporary: tool.kind === "bubblewrap" ? "/tmp" : files.tmp,
      proxy: this.#proxyUrl(),
      hasNetwork: setting.network === "allow",
      passed: [...passSecrets, ...keeps],
      isWritable: (path) => isWritable(path, view.places),
    });
    const { outer, inner: loading } = splitEnvironment(inner);
    const words = [file, ...args];
    if (tool.kind === "seatbelt") return { file: tool.file, args: seatbeltArgs(view, words), env: outer };
    const maker = await this.#maker();
    const [first, ...rest] = maker;
    return {
      file: first,
      args: [...rest, ...bubblewrapArgs(view, { cwd, env: loading, words })],
      env: outer,
      startPrewarmed: (whole: Env) =>
        this.#prewarmer?.take({ maker, view }, { cwd, env: { ...whole, ...loading }, words }),
    };
  }

  controls(variable: string): boolean {
    return isControlledInside(variable, this.#parts.setting.network === "allow");
  }

  refresh(): void {
    // The next command gets the error.
    this.#prewarming = this.#prewarm().catch(() => undefined);
    this.#places
      .refresh()
      .then(() => this.#prewarm())
      .catch(() => undefined);
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#prewarmer?.end();
    this.#parts.proxy?.close();
    await this.#shared?.close();
    this.#parts.files.remove();
  };

  async #prewarm(): Promise<void> {
    if (this.#prewarmer === undefined) return;
    const [view, maker] = [await this.#view(), await this.#maker()];
    if (!this.#isClosed) this.#prewarmer.prepare({ maker, view });
  }

  /** Returns the words that start `bwrap`, in the network of the agent's commands. */
  async #maker(): Promise<readonly [string, ...string[]]> {
    const [first = this.#parts.tool.file, ...rest] = (await this.#shared?.entry()) ?? [];
    return first === this.#parts.tool.file ? [first] : [first, ...rest, this.#parts.tool.file];
  }

  async #view(writes: readonly string[] = []): Promise<SandboxView> {
    const { tool, files, setting } = this.#parts;
    const found = await this.#places.current();
    // Seatbelt cannot replace /tmp: commands get another directory for temporary files.
    const own: readonly SandboxPlace[] =
      tool.kind === "seatbelt" ? [{ path: files.tmp, access: "write", isDirectory: true }] : [];
    const added = writes.map((path) => ({
      path: realPathOf(path),
      access: "write" as const,
      isDirectory: false,
    }));
    return {
      places: [...found, ...own, ...added],
      emptyFile: files.emptyFile,
      network: this.#network(setting.network),
      allowsNamespaces: tool.openNamespacesReason !== undefined,
    };
  }

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
}

function isWritable(path: string, places: readonly SandboxPlace[]): boolean {
  return places.findLast((place) => isInside(path, place.path))?.access === "write";
}
