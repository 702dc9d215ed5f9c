import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { FollowedFile } from "../../os/files/followed-file.ts";
import { fileSize, listDir } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { fieldsOf } from "../reported-values.ts";

/**
 * Qwen's own record of a conversation. Only it shows which calls were cancelled, by a refusal or in its screen. Results that the
 * record contains when it is opened are ignored.
 */
export class ChatRecord {
  readonly #env: Env;
  readonly #onCancelled: (callId: string) => void;
  #session = "";
  #file: FollowedFile | undefined;

  constructor(env: Env, onCancelled: (callId: string) => void) {
    this.#env = env;
    this.#onCancelled = onCancelled;
  }

  /** Whether Qwen keeps a record of this session where we look for it. */
  static has(env: Env, session: string): boolean {
    return recordOf(env, session) !== undefined;
  }

  get session(): string {
    return this.#session;
  }

  /** Follows the record of a session. @param session the conversation that Qwen has open: a person can change it */
  open(session: string): void {
    if (session === this.#session) return;
    this.#session = session;
    const path = recordOf(this.#env, session);
    this.#file = path === undefined ? undefined : this.#follow(path, fileSize(path) ?? 0);
  }

  /** Reads the new entries. @returns whether a record exists */
  read(): boolean {
    if (this.#file === undefined) {
      const path = recordOf(this.#env, this.#session);
      this.#file = path === undefined ? undefined : this.#follow(path, 0);
    }
    this.#file?.read();
    return this.#file !== undefined;
  }

  #follow(path: string, offset: number): FollowedFile {
    return new FollowedFile(path, (line) => this.#onLine(line), offset);
  }

  #onLine(line: string): void {
    if (!line.includes('"tool_result"')) return;
    try {
      const { callId, status } = fieldsOf(fieldsOf(JSON.parse(line)).toolCallResult);
      if (typeof callId === "string" && status === "cancelled") this.#onCancelled(callId);
    } catch {
      // The line is incomplete, so its content is unknown.
    }
  }
}

/** Returns the path of a session's record. Only Qwen knows the directory of a project, so all directories are searched. */
function recordOf(env: Env, session: string): string | undefined {
  if (!/^[\w-]+$/.test(session)) return undefined;
  for (const place of qwenPlaces(env)) {
    const projects = join(place, "projects");
    for (const project of listDir(projects)) {
      const path = join(projects, project, "chats", `${session}.jsonl`);
      if (ifReadable(() => fileSize(path)) !== undefined) return path;
    }
  }
  return undefined;
}

/** Directories in which Qwen may keep its records. */
export function qwenPlaces(env: Env): string[] {
  const { QWEN_RUNTIME_DIR: runtime = "", QWEN_HOME: home = "" } = env;
  return [runtime, home, join(homeDirectory(env), ".qwen")].filter((place) => place !== "");
}
