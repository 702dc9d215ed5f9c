import type { Content, OpenDocument, Source } from "./documents.ts";

interface Events {
  /** Opens a document. @throws TeamError */
  open(source: Source): OpenDocument | Promise<OpenDocument>;
  read(source: Source, content: Content): void;
  failed(source: Source, error: unknown): void;
}

/** Reads the document that the sidebar shows, and reads it again when it has changed. Only the newest document is open. */
export class DocumentFeed {
  readonly #events: Events;
  #source: Source | undefined;
  #document: OpenDocument | undefined;
  #width = 0;
  /** The document that is being read. An earlier one may still be read, too; its content is dropped. */
  #reading: OpenDocument | undefined;
  #isDue = false;

  constructor(events: Events) {
    this.#events = events;
  }

  /** Opens a document, and closes the previous one. */
  async open(source: Source, width: number): Promise<void> {
    this.close();
    this.#source = source;
    this.#width = width;
    try {
      const document = await this.#events.open(source);
      if (this.#source !== source) {
        document.close();
        return;
      }
      this.#document = document;
      if (typeof document.renews === "object") void this.#follow(document, document.renews);
      await this.#read();
    } catch (error) {
      if (this.#source === source) this.#events.failed(source, error);
    }
  }

  /** Closes the document unless it is this one. */
  keepOnly(source: Source | undefined): void {
    if (this.#source !== source) this.close();
  }

  close(): void {
    this.#document?.close();
    this.#document = undefined;
    this.#source = undefined;
  }

  /** The team's data was read. */
  async dataChanged(): Promise<void> {
    if (this.#document?.renews === "with-data") await this.#read();
  }

  async resized(width: number): Promise<void> {
    if (width === this.#width) return;
    this.#width = width;
    await this.#read();
  }

  async #follow(document: OpenDocument, bell: Exclude<OpenDocument["renews"], string>): Promise<void> {
    // Closing the document closes its bell, which ends the wait.
    while ((await bell.wait()) === "rung") if (this.#document === document) await this.#read();
  }

  /** Reads the document; changes during a read lead to one more. */
  async #read(): Promise<void> {
    const document = this.#document;
    this.#isDue = true;
    if (this.#reading === document) return;
    this.#reading = document;
    try {
      while (this.#isDue && this.#document === document) {
        this.#isDue = false;
        await this.#readOnce();
      }
    } finally {
      if (this.#reading === document) this.#reading = undefined;
    }
  }

  async #readOnce(): Promise<void> {
    const [document, source] = [this.#document, this.#source];
    if (document === undefined || source === undefined) return;
    try {
      const content = await document.read(this.#width);
      if (this.#source === source) this.#events.read(source, content);
    } catch (error) {
      if (this.#source === source) this.#events.failed(source, error);
    }
  }
}
