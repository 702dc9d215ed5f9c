import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { ensureOwnDirectory } from "../../os/files/app-directories.ts";
import { FollowedFile } from "../../os/files/followed-file.ts";
import { appendPrivate, writeNew } from "../../os/files/fs.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import type { ChannelSetup } from "../channel.ts";
import { optionArgs, ownMode } from "../option-args.ts";
import { fieldsIn } from "../reported-values.ts";
import { DEFAULTS_PATH, defaultsWithoutUpdate } from "./qwen-defaults.ts";

/**
 * The files between Qwen and us, in a private directory: its events, our commands, and the server of the team's tools.
 * Qwen also writes events to a FIFO, but loses some, and later all, if the reader is busy for a moment.
 */
export class QwenFiles {
  readonly directory: string;
  readonly #input: string;
  readonly #events: FollowedFile;

  constructor(directory: string, onEvent: (event: Readonly<Record<string, unknown>>) => void) {
    this.directory = directory;
    this.#input = join(directory, "input");
    this.#events = new FollowedFile(join(directory, "events"), (line) => {
      const event = fieldsIn(line);
      if (typeof event.type === "string") onEvent(event);
    });
  }

  /** Creates the files. @returns the arguments and the environment that name them */
  create(setup: ChannelSetup): { readonly args: readonly string[]; readonly env: Env } {
    const { adapter, servers, addDirs } = setup;
    const own = { ...setup.env, ...adapter.env };
    const [events, tools] = [join(this.directory, "events"), join(this.directory, "tools.json")];
    ensureOwnDirectory(this.directory);
    const mcpServers = Object.fromEntries(
      servers.map(({ name, command, args, env }) => [name, { command, args, env, trust: true }]),
    );
    writeNew(tools, JSON.stringify({ mcpServers }), undefined, false);
    writeNew(events, "", undefined, false);
    writeNew(this.#input, "", undefined, false);
    const defaults = defaultsWithoutUpdate(own);
    const defaultsFile = join(this.directory, "defaults.json");
    if (defaults !== undefined) writeNew(defaultsFile, defaults, undefined, false);
    this.#events.follow();
    const modeName = ownMode(setup);
    const args = [
      ...optionArgs(setup),
      // Always passed: without it, the newest versions may let a model decide.
      ...(modeName === undefined ? [] : ["--approval-mode", modeName]),
      // The requests of subagents would appear only on its screen.
      ...["--exclude-tools", "agent"],
      ...addDirs.flatMap((directory) => ["--add-dir", directory]),
      ...["--mcp-config", tools, "--json-file", events, "--input-file", this.#input],
    ];
    return { args, env: { ...own, ...(defaults !== undefined && { [DEFAULTS_PATH]: defaultsFile }) } };
  }

  submit(text: string): void {
    this.#write({ type: "submit", text });
  }

  answer(id: string, allowed: boolean): void {
    this.#write({ type: "confirmation_response", request_id: id, allowed });
  }

  #write(command: object): void {
    appendPrivate(this.#input, `${JSON.stringify(wellFormed(command))}\n`);
  }

  /** Empties the file of events to free disk space. Call it when no event is expected. */
  empty(): void {
    this.#events.empty();
  }

  close(): void {
    this.#events.close();
  }
}
