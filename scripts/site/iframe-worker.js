// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Search of a page that is read from a disk: browsers refuse workers there, so that the theme's search runs in a hidden
// frame instead. The theme would load the same from another host; mkdocs.yml names this file for it.
if (location.protocol === 'file:') {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement('iframe');
            frame.hidden = true;
            document.body.append(frame);
            this.scope = frame.contentWindow;
            this.ready = new Promise((done) => {
                this.scope.document.open();
                this.scope.answer = (data) => this.dispatchEvent(new MessageEvent('message', {data}));
                this.scope.loaded = done;
                // What a worker posts goes to whoever made it. Scripts it imports only for languages other than English.
                this.scope.document.write('<script>postMessage = answer</script><body><script src="' + url + '" onload="loaded()"></script>');
                this.scope.document.close();
            });
        }
        postMessage(data) {
            this.ready.then(() => this.scope.dispatchEvent(new MessageEvent('message', {data})));
        }
        terminate() {}
    };
}
