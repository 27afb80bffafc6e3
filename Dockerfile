# The dashboard with its compute cluster in one container:
#   docker build -t normviz . && docker run --rm -p 8501:8501 -v normviz-store:/var/lib/normviz normviz
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /app

# The CPU build of torch first, from PyTorch's own index; the pin in requirements.txt is then already met.
# For a GPU host give the index of its CUDA version: --build-arg TORCH_INDEX=...
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt ./
RUN pip install --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
    && pip install -r requirements.txt

COPY . .

RUN useradd --create-home --uid 1000 normviz \
    && mkdir -p /var/lib/normviz \
    && chown normviz:normviz /var/lib/normviz \
    && python -m compileall -q app.py labs normviz

USER normviz
ENV NORMVIZ_STORE=/var/lib/normviz
VOLUME /var/lib/normviz
EXPOSE 8501

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

CMD ["python", "-m", "streamlit", "run", "app.py", \
     "--server.address=0.0.0.0", "--server.port=8501", "--server.headless=true", "--server.fileWatcherType=none"]
