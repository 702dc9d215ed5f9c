import { basename } from "node:path";
import { entryOf, type FileVersion, versionOf } from "../../os/files/fs.ts";
import { type DirectoryWatch, watchDirectory } from "../../os/files/watch.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { rejoin } from "../../team/members/rejoin.ts";
import type { WorkerContext } from "../context.ts";

/**
 * Keeps a running teammate registered in its team's config. Third-party programs rewrite the config from an old copy, and drop
 * members that joined meanwhile; without its entry no message reaches the agent.
 */
export class OwnMembership {
  readonly #context: WorkerContext;
  #checked: FileVersion | undefined;
  /** As it was read last. */
  #entry: TeamMember | undefined;
  #watch: DirectoryWatch | undefined;
  #watched = "";
  #checking: Promise<void> | undefined;
  #checksAgain = false;

  constructor(context: WorkerContext) {
    this.#context = context;
    this.#entry = context.entry;
  }

  /**
   * Checks the config if it has changed, and registers the agent again if its entry was dropped. An unchanged file costs one
   * system call. Never rejects.
   */
  check(): Promise<void> {
    this.#checksAgain = this.#checking !== undefined;
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  async #checkAll(): Promise<void> {
    const { notifications } = this.#context;
    do {
      this.#checksAgain = false;
      await notifications.attempt(() => this.#checkOnce());
    } while (this.#checksAgain);
  }

  async #checkOnce(): Promise<void> {
    const { ref, name, role, view, events, runningTurn } = this.#context;
    if (role !== "teammate" || !this.#isStaying) return;
    // Before reading: a later change then has another version at the next check.
    const version = versionOf(ref.paths.config);
    if (version === undefined || isSame(version, this.#checked)) return;
    const config = readTeam(ref);
    this.#followMixedTeam(config);
    this.#entry = lookUpMember(config, name) ?? this.#entry;
    if (lookUpMember(config, name) === undefined && this.#entry !== undefined) {
      const entry = { ...this.#entry, isActive: runningTurn.isActive };
      if (await rejoin(ref, entry, () => this.#isStaying)) {
        view.note("another program dropped this agent from config.json: registered again");
        events.record({ type: "member", what: "rejoined" });
      }
    }
    this.#checked = version;
  }

  get #isStaying(): boolean {
    const { lifecycle, status, signal } = this.#context;
    return lifecycle.isRunning && !signal.aborted && status.state !== "stopping" && status.state !== "exited";
  }

  /**
   * Watches the config while third-party programs may write it. Without such a program no entry is lost, and each change
   * would wake all agents.
   */
  #followMixedTeam(config: TeamConfig): void {
    const { dir, config: path } = this.#context.ref.paths;
    const isMixed = this.#isMixed(config);
    if (this.#watch !== undefined && (!isMixed || this.#watched !== dir)) this.close();
    if (!isMixed || this.#watch !== undefined) return;
    this.#watched = dir;
    this.#watch = watchDirectory(dir, (changed) => {
      if (changed === undefined) this.close();
      if (changed === undefined || changed === basename(path)) void this.check();
    });
  }

  #isMixed({ schemaVersion, members }: TeamConfig): boolean {
    const { ref } = this.#context;
    if (schemaVersion === undefined) return true;
    return members.some(
      (member) =>
        member.name !== LEAD_NAME &&
        (readMetadata(member, "ownInbox") === true ||
          entryOf(ref.paths.agent(member.name).status) === undefined),
    );
  }
}

function isSame(a: FileVersion, b: FileVersion | undefined): boolean {
  return a.inode === b?.inode && a.size === b.size && a.changedMs === b.changedMs;
}
