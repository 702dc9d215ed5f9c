import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { cleanData, dataText, withShortStrings } from "../../agent/mcp/clean-result.ts";
import { TeamError } from "../../errors.ts";
import { fileSize, listDir, versionOf } from "../../os/files/fs.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import { sessionsDirectory } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { visibleMetadata } from "../../schema/guards/visible-metadata.ts";
import { parseJsonLine, readTextLines } from "../../store/jsonl.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { findMember, lookUpMember } from "../../team/members/members.ts";
import { conversationPath } from "../../team/records/conversation-path.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { ClientToolContext } from "../../team-tools/mcp/client-tool.ts";
import { publicTask } from "../../team-tools/task-schema.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { Sdk } from "./forms.ts";

const JSON_TYPE = "application/json";
/** Maximum messages of the inbox; the newest are shown. */
const MAX_MESSAGES = 50;
/** Maximum entries of a conversation; the newest are shown. */
const MAX_ENTRIES = 200;
/** Maximum bytes that are read from the end of a conversation's file. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum characters of one text of a conversation. */
const MAX_TEXT = 10_000;
/** Maximum characters of all shown entries of a conversation. */
const MAX_TEXTS = 100_000;

interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

interface Contents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The resources of a member: the team's config and tasks, the member's inbox, and the conversations of teams' own agents. */
export class TeamResources {
  readonly #context: ClientToolContext;
  /** The members at the last read, used while the config cannot be read. */
  #members: readonly string[] = [];

  constructor(context: ClientToolContext) {
    this.#context = context;
  }

  /** @throws TeamError if the team cannot be read, or the member has left it */
  list(): ListedResource[] {
    // A lead may create its team later.
    if (!teamExists(this.#context.ctx.ref)) return [];
    const { config } = this.#open();
    const conversations = config.members.flatMap(({ name }) =>
      this.#conversationFile(name) === undefined ? [] : [this.#conversation(name)],
    );
    return [...this.#fixed(), ...conversations];
  }

  templates(): { uriTemplate: string; name: string; title: string; description: string; mimeType: string }[] {
    return [
      {
        uriTemplate: `${this.#base()}/agents/{name}/conversation`,
        name: "conversation",
        title: "An agent's conversation",
        description: "The newest entries of the conversation of an agent that teams started",
        mimeType: JSON_TYPE,
      },
    ];
  }

  /** Whether a resource has this address, even if it is empty now. */
  isKnown(uri: string): boolean {
    return this.#fixed().some((one) => one.uri === uri) || this.#agentOf(uri) !== undefined;
  }

  /** @returns undefined for an unknown address @throws TeamError as {@link list} */
  async read(uri: string): Promise<Contents | undefined> {
    const { config } = this.#open();
    const data = await this.#dataOf(uri, config);
    if (data === undefined) return undefined;
    return { uri, mimeType: JSON_TYPE, text: dataText(cleanData(data)) };
  }

  /** Returns a version text for each resource, which differs after each change of the resource. */
  versions(): ReadonlyMap<string, string> {
    const { ref, actor } = this.#context.ctx;
    const { paths } = ref;
    const tasks = listDir(paths.tasks).filter((name) => name.endsWith(".json") && !name.startsWith("."));
    const [config, list, inbox] = this.#fixed().map(({ uri }) => uri);
    const conversations = this.#membersNow().flatMap((name): [string, string][] => {
      const file = this.#conversationFile(name);
      return file === undefined ? [] : [[this.#conversation(name).uri, versionText(file)]];
    });
    return new Map([
      [config ?? "", versionText(paths.config)],
      [list ?? "", tasks.map((name) => `${name} ${versionText(`${paths.tasks}/${name}`)}`).join("\n")],
      [inbox ?? "", versionText(paths.inbox(actor))],
      ...conversations,
    ]);
  }

  /** Directories with resources outside the team's directories. */
  otherDirectories(): readonly string[] {
    return [sessionsDirectory(this.#context.ctx.home.root)];
  }

  #base(): string {
    return `teams://${encodeURIComponent(this.#context.ctx.ref.team)}`;
  }

  #fixed(): ListedResource[] {
    const base = this.#base();
    const own = { mimeType: JSON_TYPE };
    return [
      {
        uri: `${base}/config`,
        name: "config",
        title: "The team",
        description: "Its members and settings",
        ...own,
      },
      {
        uri: `${base}/tasks`,
        name: "tasks",
        title: "The task list",
        description: "All tasks in full",
        ...own,
      },
      {
        uri: `${base}/inbox`,
        name: "inbox",
        title: "Your inbox",
        description: `Your newest ${MAX_MESSAGES} messages; reading does not mark them as read`,
        ...own,
      },
    ];
  }

  #conversation(name: string): ListedResource {
    const shown = stripControls(name);
    return {
      uri: `${this.#base()}/agents/${encodeURIComponent(wellFormed(name))}/conversation`,
      name: `conversation of ${shown}`,
      title: `The conversation of ${shown}`,
      description: `The newest ${MAX_ENTRIES} entries`,
      mimeType: JSON_TYPE,
    };
  }

  #open(): { readonly config: TeamConfig } {
    const { ref, actor } = this.#context.ctx;
    const config = readTeam(ref);
    findMember(config, actor);
    return { config };
  }

  #membersNow(): readonly string[] {
    try {
      this.#members = readTeam(this.#context.ctx.ref).members.map(({ name }) => name);
    } catch (error) {
      // Another program may be writing the config, or the team is gone: use the last names until the next read.
      if (!(error instanceof TeamError)) throw error;
    }
    return this.#members;
  }

  /** Returns the name in the address of a conversation. It need not be a member's name. */
  #agentOf(uri: string): string | undefined {
    const base = `${this.#base()}/agents/`;
    if (!uri.startsWith(base)) return undefined;
    const [, encoded] = /^([^/]+)\/conversation$/.exec(uri.slice(base.length)) ?? [];
    return encoded === undefined ? undefined : percentDecoded(encoded);
  }

  async #dataOf(uri: string, config: TeamConfig): Promise<Record<string, unknown> | undefined> {
    const { ctx, mail } = this.#context;
    const [ofConfig, ofTasks, ofInbox] = this.#fixed().map((one) => one.uri);
    if (uri === ofConfig) return configData(config);
    if (uri === ofTasks) {
      const broken: string[] = [];
      const tasks = listTasks(ctx.ref, (_, id) => broken.push(id)).map((task) => publicTask(ctx.ref, task));
      return { tasks, ...(broken.length === 0 ? {} : { broken }) };
    }
    if (uri === ofInbox)
      return { agent: ctx.actor, unread: await mail.waiting(), messages: await mail.recent(MAX_MESSAGES) };
    const agent = this.#agentOf(uri);
    const member = agent === undefined ? undefined : lookUpMember(config, agent);
    const file = member && this.#conversationFile(member.name);
    return file === undefined ? undefined : { agent: member?.name, ...conversationData(file) };
  }

  /** Returns only a file in the directory of conversations: any process with access to the team's files may have written the record. */
  #conversationFile(agent: string): string | undefined {
    const { home, ref } = this.#context.ctx;
    const status = readStatus(ref, agent);
    const file = status && conversationPath(ref, status);
    const directory = `${sessionsDirectory(home.root)}/`;
    if (!file?.startsWith(directory) || file.slice(directory.length).includes("/")) return undefined;
    return fileSize(file) === undefined ? undefined : file;
  }
}

function versionText(path: string): string {
  const { inode = 0, size = 0, changedMs = 0 } = versionOf(path) ?? {};
  return `${inode} ${size} ${changedMs}`;
}

/** Returns the config without this program's private metadata. */
function configData({ metadata, members, ...rest }: TeamConfig): Record<string, unknown> {
  return {
    ...rest,
    metadata: visibleMetadata(metadata),
    members: members.map((member) => ({ ...member, metadata: visibleMetadata(member.metadata) })),
  };
}

/** Returns the newest entries that fit, oldest first. */
function conversationData(file: string): { readonly entries: readonly unknown[]; readonly older: boolean } {
  const start = Math.max(startOfLastLines(file, MAX_ENTRIES), (fileSize(file) ?? 0) - MAX_BYTES);
  const all = readTextLines(file, start)
    .texts.flatMap(parseJsonLine(transcriptLine))
    .flatMap((line) =>
      line.type === "user" || line.type === "assistant"
        ? [withShortStrings({ role: line.message.role, content: line.message.content }, MAX_TEXT)]
        : [],
    );
  let length = 0;
  const fits = all.toReversed().findIndex((entry) => {
    length += JSON.stringify(entry).length;
    return length > MAX_TEXTS;
  });
  const entries = fits < 0 ? all : all.slice(all.length - fits);
  return { entries, older: start > 0 || entries.length < all.length };
}

/** Turns a TeamError into a protocol error: an answer has no other place for a refusal. */
export async function readable<T>(sdk: Sdk, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, stripControls(error.message));
  }
}
