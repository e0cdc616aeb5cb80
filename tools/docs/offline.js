// Search without a server. Browsers refuse to start a worker, or to fetch a file, for a page that was opened as file://. There the
// worker's script runs in a hidden frame instead, and the index comes as a script (search/search_index.js, by ./dev docs).
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      addEventListener("message", event => {
        if (event.source !== inside) return;
        const answer = new MessageEvent("message", {data: event.data});
        this.dispatchEvent(answer);
        if (this.onmessage) this.onmessage(answer);
      });
      inside.document.open();
      inside.document.write(
          "<script>postMessage = message => parent.postMessage(message, '*');" +
          "importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise(done => {" +
          "const script = document.createElement('script'); script.src = url; script.onload = done; document.body.appendChild(script);" +
          "})), Promise.resolve());<\/script><body><script src='" + url + "'><\/script>");
      inside.document.close();
      const begin = () => {
        this.frame = inside;
        for (const message of this.waiting) this.postMessage(message);
      };
      if (inside.document.readyState === "complete") begin();
      else inside.addEventListener("load", begin);
    }
    postMessage(message) {
      if (!this.frame) this.waiting.push(message);
      else this.frame.dispatchEvent(new MessageEvent("message", {data: message, source: parent}));
    }
    terminate() {}
  };
  window.__search = {
    index: new Promise(done => {
      const script = document.createElement("script");
      script.src = new URL("search/search_index.js", document.currentScript.src.replace(/[^/]*$/, ""));
      script.onload = () => done(__index);
      document.head.appendChild(script);
    })
  };
}
